#include "ops/layer_norm/layer_norm.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/layer_norm/layer_norm_kernel.h"
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

// The parameter, or what stands for none.
Tensor Factor(const Variable& v, const Shape& normalized, double absent, const Tensor& like) {
  return v.defined() ? v.data().Contiguous()
                     : Full(normalized, absent, like.dtype(), like.device());
}

// What the backward keeps.
struct Kept {
  SavedActivation x;
  Saved mean, rstd, weight;
  Shape normalized;
};

Gradients Backpropagate(const Kept& kept, const GradContext& g) {
  const Tensor x = kept.x.get();
  const Tensor& weight = kept.weight.get();
  const auto like = [&](bool wanted, const Shape& shape) {
    return wanted ? Tensor(shape, x.dtype(), x.device()) : Tensor();
  };
  Tensor dx = like(g.wants(0), x.shape()), dweight = like(g.wants(1), kept.normalized),
         dbias = like(g.wants(2), kept.normalized);
  VisitCompute(kOp, x.dtype(), [&]<class T>(ComputeType<T>) {
    const auto out = [](Tensor& t) { return t.defined() ? t.mutable_data<T>() : nullptr; };
    cpu::LayerNormBackward(kept.mean.get().numel(), weight.numel(), g.grad().data<T>(), x.data<T>(),
                           kept.mean.get().data<T>(), kept.rstd.get().data<T>(), weight.data<T>(),
                           out(dx), out(dweight), out(dbias));
  });
  return {dx, dweight, dbias};
}

}  // namespace

Variable LayerNorm(const Variable& input, const Shape& normalized_shape, const Variable& weight,
                   const Variable& bias, double eps) {
  CheckShapes(input, normalized_shape);
  CheckAffine("weight", weight, normalized_shape, input.dtype());
  CheckAffine("bias", bias, normalized_shape, input.dtype());
  const Tensor x = input.data().Contiguous();
  const Tensor w = Factor(weight, normalized_shape, 1, x), b = Factor(bias, normalized_shape, 0, x);
  const int64_t n = w.numel(), rows = n == 0 ? 0 : x.numel() / n;
  Tensor y(x.shape(), x.dtype(), x.device()), mean({rows}, x.dtype(), x.device());
  Tensor rstd({rows}, x.dtype(), x.device());
  VisitCompute(kOp, x.dtype(), [&]<class T>(ComputeType<T>) {
    cpu::LayerNorm(rows, n, x.data<T>(), w.data<T>(), b.data<T>(), eps, y.mutable_data<T>(),
                   mean.mutable_data<T>(), rstd.mutable_data<T>());
  });
  return Record(
      "layer_norm", y, {input, weight, bias},
      [kept = Kept{SavedActivation(x), Saved(mean), Saved(rstd), Saved(w), normalized_shape}](
          const GradContext& g) { return Backpropagate(kept, g); });
}

}  // namespace torus::ops
