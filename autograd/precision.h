// The type in which a thread's ops compute what is worth computing in 16 bits, as torch.autocast
// (Micikevicius et al. 2018, "Mixed precision training").
#pragma once

#include "runtime/dtype.h"

namespace torus {

// How products, convolutions and attention are computed in a low type. Both sum in f32 and round
// once; their bits differ, because the order of the sums does.
enum class Products : uint8_t {
  kEmulated,  // by the kernels of f32, from rounded inputs: on any device
  kNative,    // by the device's own instructions where an op has kernels of them
};

// What ops compute in. A DType alone means emulated products.
struct Precision {
  constexpr Precision(DType low = DType::kF32,  // NOLINT: converts
                      Products products = Products::kEmulated)
      : low(low), products(products) {}
  friend bool operator==(const Precision&, const Precision&) = default;

  DType low;  // kF32: ops compute in the type of their inputs
  Products products;
};

// While one is alive, ops that this thread runs choose their types by a table (ops/precision):
// products, convolutions and attention compute in `low`, losses and normalisations in f32. Weights
// and their gradients stay f32.
class WithPrecision {
 public:
  // Of kF32 or kBF16; BadInput for another dtype.
  explicit WithPrecision(Precision precision);
  ~WithPrecision();
  WithPrecision(const WithPrecision&) = delete;
  WithPrecision& operator=(const WithPrecision&) = delete;

  static DType Current();  // `low` of this thread; kF32 unless one is alive
  static bool Native();    // whether its products are those of the device

 private:
  Precision before_;
};

}  // namespace torus
