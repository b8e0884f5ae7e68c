// What ops of an affine map, x W + b, have in common: shapes, products and gradients, in Tensors.
#pragma once

#include <string_view>

#include "autograd/variable.h"

namespace torus::ops {

// How the weight lies in memory.
enum class WeightLayout { kOutIn, kInOut };

// The result's shape; BadInput tagged `op` for sizes that do not fit.
Shape AffineShape(std::string_view op, const Shape& input, const Variable& weight,
                  const Variable& bias, WeightLayout layout);
// BadInput tagged `op` unless all have one dtype.
void CheckAffineTypes(std::string_view op, const Variable& input, const Variable& weight,
                      const Variable& bias);
// The bias as a product of the thread's low type takes it (kernels.h); undefined for none.
Tensor LowBias(const Variable& bias);

// (rows, size of the last dimension)
Tensor Rows(const Tensor& t);
// out = x times the weight, plus the bias unless that is undefined.
void TimesWeight(const Tensor& x, const Tensor& w, const Tensor& bias, WeightLayout layout,
                 Tensor& out);

// Of y = x W + b, dy being y's gradient. All are rows.
Tensor AffineInputGradient(const Tensor& dy, const Tensor& w, WeightLayout layout);

struct AffineGradients {
  Tensor weight, bias;  // undefined where not wanted
};
// The weight's is of type `dtype`, the bias's of dy's, or f32 where that is of 16 bits. `x` may be
// undefined where the weight's is not wanted.
AffineGradients AffineWeightGradients(const Tensor& dy, const Tensor& x, WeightLayout layout,
                                      DType dtype, bool wants_weight, bool wants_bias);

}  // namespace torus::ops
