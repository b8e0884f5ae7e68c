// Counter-based random numbers from Philox (philox.h). A number is a pure function of key and
// counter: there is no state, and neither order nor threads matter.
#pragma once

#include <cstdint>

#include "runtime/philox.h"
#include "runtime/tensor.h"

namespace torus {

// Identifies a stream of random numbers by its purpose. Different keys give unrelated streams.
struct RandomKey {
  uint64_t seed = 0;    // of the run
  uint64_t step = 0;    // training step, or epoch
  uint64_t layer = 0;   // the consumer: a layer's number, or HashName of the purpose
  uint64_t sample = 0;  // global sample
};

// A 64-bit hash of a name (FNV-1a), for `layer`.
uint64_t HashName(const char* name);

// The stream of one key, read in order or by index.
class RandomStream {
 public:
  explicit RandomStream(const RandomKey& key);
  // The stream with the same key, except for the step.
  RandomStream InStep(uint64_t step) const;
  uint32_t Word(uint64_t index) const;     // uniform 32-bit word
  float Uniform(uint64_t index) const;     // [0, 1), 24 bits
  double Uniform64(uint64_t index) const;  // [0, 1), 53 bits, from words 2 index and 2 index + 1
  // Standard normal by Box-Muller, two from each block: number 2 i is the cosine of block i, 2 i +
  // 1 its sine.
  double Normal(uint64_t index) const;
  // Uniform in [0, bound); bound >= 1. Uses 64 bits, from the words of Uniform64, so the bias is at
  // most bound / 2^64.
  uint64_t Below(uint64_t index, uint64_t bound) const;
  // The four words Word(4 index) ... Word(4 index + 3): faster than single words.
  PhiloxCounter Block(uint64_t index) const;
  // Writes the words of `count` blocks from block `first`, vectorised.
  void Blocks(uint64_t first, int64_t count, uint32_t* words) const;
  // Block `index` is Philox of counter (index, counter_high()) under key(), for kernels that draw
  // numbers themselves.
  PhiloxKey key() const { return key_; }
  uint64_t counter_high() const { return high_; }

 private:
  RandomKey of_;
  PhiloxKey key_;
  uint64_t high_;  // upper half of the counter
};

// Fill a contiguous f32 or f64 tensor: element i is Uniform, Uniform64 or Normal of index i, for
// any number of threads. FillUniform's values lie in [low, high). For a GPU tensor, the numbers are
// drawn on the CPU and copied: the same bits, and the call waits for the copy.
void FillUniform(Tensor& out, double low, double high, const RandomStream& stream);
void FillNormal(Tensor& out, double mean, double stddev, const RandomStream& stream);

}  // namespace torus
