#include "ops/layer_norm/norm_of_rows.h"

#include "ops/layer_norm/kernels.h"
#include "ops/precision/native.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

void CheckAffine(std::string_view op, const char* name, const Variable& v, const Shape& normalized,
                 DType dtype) {
  Require(!v.defined() || (v.shape() == normalized && v.dtype() == dtype), op,
          "{} must be {} {}, got {}", name, Name(dtype), normalized, v);
}

Tensor TensorOf(const Variable& v) { return v.defined() ? v.data() : Tensor(); }

// The parameter, or a constant tensor if there is none.
Tensor Factor(const Variable& v, const Shape& normalized, double absent, DType dtype,
              Device device) {
  return v.defined() ? v.data().Contiguous() : Full(normalized, absent, dtype, device);
}

}  // namespace

void RequireNormalized(std::string_view op, const Variable& input, const Shape& normalized) {
  bool fits = normalized.rank() >= 1 && normalized.rank() <= input.rank();
  for (int d = 1; fits && d <= normalized.rank(); ++d)
    fits = input.dim(-d) == normalized[normalized.rank() - d];
  Require(fits, op, "normalized_shape {} must be the last dimensions of the input {}", normalized,
          input.shape());
}

NormalizedRows NormalizeRows(std::string_view op, RowCenter center, const Variable& input,
                             const Shape& normalized, const Variable& weight, const Variable& bias,
                             double eps, DType result) {
  RequireNormalized(op, input, normalized);
  const DType sums = SumTypeOf(input.dtype());
  CheckAffine(op, "weight", weight, normalized, sums);
  CheckAffine(op, "bias", bias, normalized, sums);
  const Device device = CommonDevice(op, input.data(), TensorOf(weight), TensorOf(bias));
  const Tensor x = input.data().Contiguous();
  const Tensor w = Factor(weight, normalized, 1, sums, device);
  const Tensor b = Factor(bias, normalized, 0, sums, device);
  const int64_t rows = w.numel() == 0 ? 0 : x.numel() / w.numel();
  Tensor y(x.shape(), result, device), rstd({rows}, sums, device);
  Tensor mean = center == RowCenter::kMean ? Tensor({rows}, sums, device) : Tensor();
  kernels::LayerNorm(x, w, b, eps, y, mean, rstd);
  return {y, {SavedActivation(x), Saved(mean), Saved(rstd), Saved(w), normalized}};
}

Gradients GradientsOfRows(const SavedRows& saved, const GradContext& g) {
  const Tensor& dy = g.grad();
  const Tensor x = saved.x.get(), weight = saved.weight.get();
  const bool centered = saved.mean.defined();
  const auto wanted = [&](int input, const Shape& shape, DType dtype) {
    return g.wants(input) ? Tensor(shape, dtype, dy.device()) : Tensor();
  };
  Tensor dx = wanted(0, x.shape(), x.dtype()),
         dweight = wanted(1, saved.normalized, weight.dtype()),
         dbias = centered ? wanted(2, saved.normalized, weight.dtype()) : Tensor();
  const bool adds = dx.defined() && dy.device().kind == DeviceKind::kCuda;
  kernels::LayerNormBackward(dy, x, centered ? saved.mean.get() : Tensor(), saved.rstd.get(),
                             weight, adds ? g.TakeSum(0) : Tensor(), dx, dweight, dbias);
  if (!centered) return {dx, dweight};
  return {dx, dweight, dbias};
}

}  // namespace torus::ops
