// Compares the fast f32 kernels with the plain f64 ones ("twins"), forward and backward.
#pragma once

#include <hwy/targets.h>

#include <vector>

#include "runtime/rng.h"
#include "tests/testing/gradient_check.h"

namespace torus::testing {

// One comparison. `function` runs once on f32 leaves and once on f64 leaves of equal values.
struct Twin {
  CheckedFunction function;
  std::vector<Tensor> inputs;  // f32; integer tensors go to both unchanged
  int64_t terms = 1;           // of the longest sum in an output element
  int64_t gradient_terms = 1;  // of the longest sum in a gradient element
  // Size of the summed values, if a sum's terms can cancel to less: Tolerance's magnitude is at
  // least this (times the square root of the terms if their signs are random).
  double magnitude = 0;
};

// Expects that outputs and the gradients of all inputs agree within Tolerance, and that integer
// outputs are equal. Both backwards start from the same random output gradients. Failures name
// tensor, element and both values.
void ExpectTwinsAgree(const Twin& twin);

// The same for a GPU's f32 kernels against the CPU's f64 ones, if there is a GPU and all ops have
// kernels for it (on_gpu.h).
void ExpectAgreesOnGpu(const Twin& twin);

class OddShapes;

// Compares 200 twins, each made by `make` from new random shapes, at every vector width of this
// machine; one in eight on the whole team, the others on one thread. With a GPU, one in eight is
// also computed there in f32 and compared with the same f64 twin.
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

// Calls f once for every vector width that this machine supports and Highway was compiled for.
template <class F>
void ForEachVectorWidth(const F& f) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    f();
  }
  hwy::SetSupportedTargetsForTest(0);
}

// Calls f at the narrowest of these widths.
template <class F>
void AtTheNarrowestVectors(const F& f) {
  const int64_t narrowest = hwy::SupportedAndGeneratedTargets().back();
  SCOPED_TRACE(hwy::TargetName(narrowest));
  hwy::SetSupportedTargetsForTest(narrowest);
  f();
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace torus::testing
