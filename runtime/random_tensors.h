// Tensors of random numbers, as torch.rand, randn and randint. They are counter-based (rng.h): the
// numbers are a pure function of seed and call, the same on every device and for any number of
// threads. They are not PyTorch's numbers.
#pragma once

#include <concepts>

#include "runtime/rng.h"
#include "runtime/tensor.h"

namespace torus {

// Counts its uses, so that each call that takes it gets other numbers. Not for several threads at
// once.
class Generator {
 public:
  explicit Generator(uint64_t seed) : seed_(seed) {}
  uint64_t seed() const { return seed_; }  // the one that it began with
  // The key of the next use.
  RandomKey Next() { return {.seed = seed_, .step = ++uses_}; }

 private:
  uint64_t seed_, uses_ = 0;
};

// Where a call's numbers come from: a seed, which gives the same ones each time; a generator; or a
// key. The functions below use a key's `layer` themselves where it is 0, so that Rand and Randn of
// one seed are unrelated.
class RandomSource {
 public:
  template <std::integral Int>
  RandomSource(Int seed) : key_{.seed = static_cast<uint64_t>(seed)} {}  // NOLINT: converts
  RandomSource(Generator& generator) : key_(generator.Next()) {}         // NOLINT
  RandomSource(const RandomKey& key) : key_(key) {}                      // NOLINT
  // The stream of a function of this name; `purpose` keeps those of different functions apart.
  RandomStream For(const char* purpose) const;

 private:
  RandomKey key_;
};

// Uniform in [0, 1). f64, f32, bf16 or f16; in 16 bits, 1 too by rounding.
Tensor Rand(const Shape& shape, const RandomSource& source, DType dtype = DType::kF32,
            Device device = {});
// Standard normal.
Tensor Randn(const Shape& shape, const RandomSource& source, DType dtype = DType::kF32,
             Device device = {});
// Whole numbers, uniform in [low, high). Throws BadInput unless low < high.
Tensor RandInt(int64_t low, int64_t high, const Shape& shape, const RandomSource& source,
               DType dtype = DType::kI64, Device device = {});

}  // namespace torus
