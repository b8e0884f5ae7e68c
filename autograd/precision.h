// Mixed precision: which ops of a thread compute in 16 bits, like torch.autocast (Micikevicius et
// al. 2018, "Mixed precision training").
#pragma once

#include "runtime/dtype.h"

namespace torus {

// How products, convolutions and attention are computed. In a low (16-bit) type they sum in f32 and
// round once. The choices differ in the order of the sums, hence in bits.
enum class MatmulMode : uint8_t {
  kEmulated,  // low type: inputs are rounded, then f32 kernels compute; works on any device
  kNative,    // low type: the device's 16-bit instructions, for ops that have such kernels
  kTf32,      // f32 on a GPU's tensor cores, which read 10 bits of each input's fraction
              // (NVIDIA A100 architecture whitepaper, "TensorFloat-32")
};

// The precision of ops. Converting from a DType selects emulated products.
struct Precision {
  constexpr Precision(DType low = DType::kF32,  // NOLINT: converts
                      MatmulMode matmul_mode = MatmulMode::kEmulated)
      : low(low), matmul_mode(matmul_mode) {}
  // Whether both members are equal.
  friend bool operator==(const Precision&, const Precision&) = default;

  DType low;               // kF32: ops compute in the type of their inputs; kTf32 requires it
  MatmulMode matmul_mode;  // how products are computed in that type
};

// While one exists, ops that this thread runs choose their types from a table (ops/precision):
// products, convolutions and attention compute in `low`, losses and normalisations in f32. Weights
// and their gradients stay f32.
class WithPrecision {
 public:
  // `precision.low` is kF32, kBF16 or kF16. Throws BadInput for another dtype, and for a 16-bit
  // dtype together with kTf32.
  explicit WithPrecision(Precision precision);
  ~WithPrecision();
  WithPrecision(const WithPrecision&) = delete;
  WithPrecision& operator=(const WithPrecision&) = delete;

  static Precision Whole();  // of this thread; Precision() unless one exists
  static DType Current();    // its `low`
  static bool Native();      // whether this thread computes in a low type with kNative
  // Whether f32 products may use TF32. An op's gradient uses the setting that its forward had,
  // whatever surrounds the Backward; nothing else of a precision reaches gradient rules, which
  // compute in the types of what they saved.
  static bool Tf32();

 private:
  Precision before_;
};

}  // namespace torus
