#include "ops/layer_norm/layer_norm.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/layer_norm/kernels.h"
#include "ops/precision/in_precision.h"
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
  const auto wanted = [&](int input, const Shape& shape) {
    return g.wants(input) ? Tensor(shape, dy.dtype(), dy.device()) : Tensor();
  };
  Tensor dx = wanted(0, dy.shape()), dweight = wanted(1, saved.normalized),
         dbias = wanted(2, saved.normalized);
  kernels::LayerNormBackward(dy, saved.x.get(), saved.mean.get(), saved.rstd.get(),
                             saved.weight.get(), dx, dweight, dbias);
  return {dx, dweight, dbias};
}

}  // namespace

Variable LayerNorm(const Variable& input, const Shape& normalized_shape, const Variable& weight,
                   const Variable& bias, double eps) {
  return InPrecision(
      "layer_norm",
      [&](const Variable& input, const Variable& weight, const Variable& bias) {
        CheckShapes(input, normalized_shape);
        CheckAffine("weight", weight, normalized_shape, input.dtype());
        CheckAffine("bias", bias, normalized_shape, input.dtype());
        const Device device = CommonDevice(kOp, input.data(), TensorOf(weight), TensorOf(bias));
        const DType dtype = input.dtype();
        const Tensor x = input.data().Contiguous();
        const Tensor w = Factor(weight, normalized_shape, 1, dtype, device);
        const Tensor b = Factor(bias, normalized_shape, 0, dtype, device);
        const int64_t rows = w.numel() == 0 ? 0 : x.numel() / w.numel();
        Tensor y(x.shape(), dtype, device), mean({rows}, dtype, device),
            rstd({rows}, dtype, device);
        kernels::LayerNorm(x, w, b, eps, y, mean, rstd);
        return Record("layer_norm", y, {input, weight, bias},
                      [saved = SavedForBackward{SavedActivation(x), Saved(mean), Saved(rstd),
                                                Saved(w), normalized_shape}](const GradContext& g) {
                        return InputGradients(saved, g);
                      });
      },
      input, weight, bias);
}

}  // namespace torus::ops
