#include "ops/layer_norm/layer_norm.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "autograd/undefined_input.h"
#include "ops/layer_norm/kernels.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/native.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "layer_norm";

void CheckShapes(const Variable& input, const Shape& normalized) {
  bool fits = normalized.rank() >= 1 && normalized.rank() <= input.rank();
  for (int d = 1; fits && d <= normalized.rank(); ++d)
    fits = input.dim(-d) == normalized[normalized.rank() - d];
  Require(fits, kOp, "normalized_shape {} must be the last dimensions of the input {}", normalized,
          input.shape());
}

void CheckAffine(const char* name, const Variable& v, const Shape& normalized, DType dtype) {
  Require(!v.defined() || (v.shape() == normalized && v.dtype() == dtype), kOp,
          "{} must be {} {}, got {}", name, Name(dtype), normalized, v);
}

Tensor TensorOf(const Variable& v) { return v.defined() ? v.data() : Tensor(); }

// The parameter, or a constant tensor if there is none.
Tensor Factor(const Variable& v, const Shape& normalized, double absent, DType dtype,
              Device device) {
  return v.defined() ? v.data().Contiguous() : Full(normalized, absent, dtype, device);
}

struct SavedForBackward {
  SavedActivation x;
  Saved mean, rstd, weight;
  Shape normalized;
};

Gradients InputGradients(const SavedForBackward& saved, const GradContext& g) {
  const Tensor& dy = g.grad();
  const Tensor x = saved.x.get(), weight = saved.weight.get();
  const auto wanted = [&](int input, const Shape& shape, DType dtype) {
    return g.wants(input) ? Tensor(shape, dtype, dy.device()) : Tensor();
  };
  Tensor dx = wanted(0, x.shape(), x.dtype()),
         dweight = wanted(1, saved.normalized, weight.dtype()),
         dbias = wanted(2, saved.normalized, weight.dtype());
  const bool adds = dx.defined() && dy.device().kind == DeviceKind::kCuda;
  kernels::LayerNormBackward(dy, x, saved.mean.get(), saved.rstd.get(), weight,
                             adds ? g.TakeSum(0) : Tensor(), dx, dweight, dbias);
  return {dx, dweight, dbias};
}

// Gives `result`, which differs from the input's dtype only where the kernels round.
Variable Normalize(const Variable& input, const Shape& normalized, const Variable& weight,
                   const Variable& bias, double eps, DType result) {
  CheckShapes(input, normalized);
  const DType sums = SumTypeOf(input.dtype());
  CheckAffine("weight", weight, normalized, sums);
  CheckAffine("bias", bias, normalized, sums);
  const Device device = CommonDevice(kOp, input.data(), TensorOf(weight), TensorOf(bias));
  const Tensor x = input.data().Contiguous();
  const Tensor w = Factor(weight, normalized, 1, sums, device);
  const Tensor b = Factor(bias, normalized, 0, sums, device);
  const int64_t rows = w.numel() == 0 ? 0 : x.numel() / w.numel();
  Tensor y(x.shape(), result, device), mean({rows}, sums, device), rstd({rows}, sums, device);
  kernels::LayerNorm(x, w, b, eps, y, mean, rstd);
  return Record("layer_norm", y, {input, weight, bias},
                [saved = SavedForBackward{SavedActivation(x), Saved(mean), Saved(rstd), Saved(w),
                                          normalized}](const GradContext& g) {
                  return InputGradients(saved, g);
                });
}

}  // namespace

Variable LayerNorm(const Variable& input, const Shape& normalized_shape, const Variable& weight,
                   const Variable& bias, double eps) {
  RequireDefined(kOp, input);
  if (RoundsOnGpu(input))
    return Normalize(input, normalized_shape, Widened(weight), Widened(bias), eps,
                     ResultOf(kOp, input, weight, bias));
  return InPrecision(
      kOp,
      [&](const Variable& x, const Variable& w, const Variable& b) {
        return Normalize(x, normalized_shape, w, b, eps, x.dtype());
      },
      input, weight, bias);
}

}  // namespace torus::ops
