// The type in which a thread's ops compute what is worth computing in 16 bits, as torch.autocast
// (Micikevicius et al. 2018, "Mixed precision training").
#pragma once

#include "runtime/dtype.h"

namespace torus {

// How products, convolutions and attention are computed. Those of a low type sum in f32 and round
// once; their bits differ, because the order of the sums does.
enum class Products : uint8_t {
  kEmulated,  // in a low type by the kernels of f32, from rounded inputs: on any device
  kNative,    // in a low type by the device's own instructions where an op has kernels of them
  kTf32,      // in f32 by a GPU's matrix units, which read 10 bits of each input's fraction
              // (NVIDIA A100 architecture whitepaper, "TensorFloat-32")
};

// What ops compute in. A DType alone means emulated products.
struct Precision {
  constexpr Precision(DType low = DType::kF32,  // NOLINT: converts
                      Products products = Products::kEmulated)
      : low(low), products(products) {}
  friend bool operator==(const Precision&, const Precision&) = default;

  DType low;  // kF32: ops compute in the type of their inputs; always beside kTf32
  Products products;
};

// While one is alive, ops that this thread runs choose their types by a table (ops/precision):
// products, convolutions and attention compute in `low`, losses and normalisations in f32. Weights
// and their gradients stay f32.
class WithPrecision {
 public:
  // Of kF32, kBF16 or kF16; BadInput for another dtype, and for a low one beside kTf32.
  explicit WithPrecision(Precision precision);
  ~WithPrecision();
  WithPrecision(const WithPrecision&) = delete;
  WithPrecision& operator=(const WithPrecision&) = delete;

  static DType Current();  // `low` of this thread; kF32 unless one is alive
  static bool Native();    // whether its products in a low type are those of the device
  // Whether products of f32 may be TF32's. An op's gradient is computed under what the op was.
  static bool Tf32();

 private:
  Precision before_;
};

}  // namespace torus
