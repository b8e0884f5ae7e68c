// Shared by ops with an affine map, x W + b: shapes, products and gradients, on Tensors.
#pragma once

#include <string_view>

#include "autograd/node.h"
#include "autograd/variable.h"

namespace torus::ops {

// How the weight is stored.
enum class WeightLayout { kOutIn, kInOut };

// The result's shape; throws BadInput tagged `op` for sizes that do not fit.
Shape AffineShape(std::string_view op, const Shape& input, const Variable& weight,
                  const Variable& bias, WeightLayout layout);
// Throws BadInput tagged `op` unless all have the same dtype.
void CheckAffineTypes(std::string_view op, const Variable& input, const Variable& weight,
                      const Variable& bias);
// The bias in the dtype that products in the thread's low type take (kernels.h); undefined if there
// is none.
Tensor LowBias(const Variable& bias);

// `t` as (rows, size of the last dimension), contiguous.
Tensor Rows(const Tensor& t);
// out = x times the weight, plus the bias unless that is undefined.
void TimesWeight(const Tensor& x, const Tensor& w, const Tensor& bias, WeightLayout layout,
                 Tensor& out);

// Gradients of y = x W + b, given dy, the gradient of y. All are (rows, ...).
Tensor AffineInputGradient(const Tensor& dy, const Tensor& w, WeightLayout layout);
// The same for input 0 of a rule, in its shape. In 16 bits on a GPU the product adds to what the
// input has got from other ops (GradContext::TakeSum).
Tensor AffineInputGradient(const GradContext& g, const Tensor& dy, const Tensor& w,
                           WeightLayout layout, const Shape& shape);

struct AffineGradients {
  Tensor weight, bias;  // undefined if not wanted
};
// The dtypes of a weight and its bias, and so of their gradients; each is rounded once.
struct AffineTypes {
  DType weight, bias;
};
AffineTypes TypesOf(const Variable& weight, const Variable& bias);
// `x` may be undefined if the weight's gradient is not wanted.
AffineGradients AffineWeightGradients(const Tensor& dy, const Tensor& x, WeightLayout layout,
                                      const AffineTypes& types, bool wants_weight, bool wants_bias);

}  // namespace torus::ops
