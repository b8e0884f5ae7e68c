// The type in which a thread's ops compute what is worth computing in 16 bits, as torch.autocast
// (Micikevicius et al. 2018, "Mixed precision training").
#pragma once

#include "runtime/dtype.h"

namespace torus {

// While one is alive, ops that this thread runs choose their types by a table (ops/precision):
// products, convolutions and attention compute in `low`, losses and normalisations in f32. Weights
// and their gradients stay f32.
class WithPrecision {
 public:
  // kF32 (ops compute in the type of their inputs) or kBF16; BadInput for another dtype.
  explicit WithPrecision(DType low);
  ~WithPrecision();
  WithPrecision(const WithPrecision&) = delete;
  WithPrecision& operator=(const WithPrecision&) = delete;

  static DType Current();  // `low` of this thread; kF32 unless one is alive

 private:
  DType before_;
};

}  // namespace torus
