#include "ops/layer_norm/layer_norm.h"

#include "ops/layer_norm/norm_of_rows.h"
#include "ops/precision/in_precision.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "layer_norm";

Variable Normalize(const Variable& input, const Shape& normalized, const Variable& weight,
                   const Variable& bias, double eps, DType result) {
  const NormalizedRows rows =
      NormalizeRows(kOp, RowCenter::kMean, input, normalized, weight, bias, eps, result);
  return Record("layer_norm", rows.y, {input, weight, bias},
                [saved = rows.saved](const GradContext& g) { return GradientsOfRows(saved, g); });
}

}  // namespace

Variable LayerNorm(const Variable& input, const Shape& normalized_shape, const Variable& weight,
                   const Variable& bias, double eps) {
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
