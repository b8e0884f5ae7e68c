// Holds the fast f32 kernels against their plain f64 twins, forward and backward.
#pragma once

#include <hwy/targets.h>

#include <vector>

#include "runtime/rng.h"
#include "tests/testing/gradient_check.h"

namespace torus::testing {

// One comparison. `function` runs once on f32 and once on f64 leaves of equal values.
struct Twin {
  CheckedFunction function;
  std::vector<Tensor> inputs;  // f32; tensors of whole numbers go to both unchanged
  int64_t terms = 1;           // of the longest sum behind an output element
  int64_t gradient_terms = 1;  // of the longest sum behind a gradient element
  // Size of the values summed, where a sum's terms can cancel below it: Tolerance's magnitude is at
  // least this (times the square root of the terms when they are of random sign).
  double magnitude = 0;
};

// Outputs and all inputs' gradients of the two agree within Tolerance; outputs of whole numbers are
// equal. Gradients flow from random seeds that are the same for both. Failures name tensor, element
// and both values.
void ExpectTwinsAgree(const Twin& twin);

// The same of the f32 kernels of a GPU, where there is one and all ops have kernels there
// (on_gpu.h), against the CPU's f64 ones.
void ExpectAgreesOnGpu(const Twin& twin);

class OddShapes;

// 200 twins, each made by `make` from fresh random shapes, at every vector width of this machine;
// one in eight on the whole team, the others on one thread. Where there is a GPU, one in eight is
// computed there in f32 too and held against the same f64 twin.
void CheckTwins(const std::function<Twin(OddShapes&)>& make);

// Random sizes and tensors for twins; a function of the seed alone.
class OddShapes {
 public:
  explicit OddShapes(uint64_t seed) : stream_({.seed = seed, .layer = HashName("odd shapes")}) {}
  // In [least, most]; half of the time odd, a tenth of the time `least`.
  int64_t Size(int64_t most, int64_t least = 1);
  bool Coin() { return stream_.Below(next_++, 2) == 1; }
  // `rank` sizes of at most `most`.
  Shape Dims(int rank, int64_t most);
  // f32, standard normal.
  Tensor Normal(const Shape& shape);
  // f32, uniform in [low, high).
  Tensor Uniform(const Shape& shape, double low, double high);
  // i64, uniform in [0, bound).
  Tensor Indices(const Shape& shape, int64_t bound);

 private:
  RandomStream stream_;
  uint64_t next_ = 0;
};

// Calls f once for every vector width that this machine has and Highway compiled.
template <class F>
void ForEachVectorWidth(const F& f) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    f();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace torus::testing
