#include "ops/layer_norm/rms_norm.h"

#include <limits>

#include "autograd/undefined_input.h"
#include "ops/layer_norm/norm_of_rows.h"
#include "ops/precision/in_precision.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "rms_norm";

double EpsilonOf(DType dtype) {
  return dtype == DType::kF64 ? std::numeric_limits<double>::epsilon()
                              : std::numeric_limits<float>::epsilon();
}

Variable Normalize(const Variable& input, const Shape& normalized, const Variable& weight,
                   std::optional<double> eps, DType result) {
  const NormalizedRows rows =
      NormalizeRows(kOp, RowCenter::kZero, input, normalized, weight, Variable(),
                    eps.value_or(EpsilonOf(input.dtype())), result);
  return Record("rms_norm", rows.y, {input, weight},
                [saved = rows.saved](const GradContext& g) { return GradientsOfRows(saved, g); });
}

}  // namespace

Variable RmsNorm(const Variable& input, const Shape& normalized_shape, const Variable& weight,
                 std::optional<double> eps) {
  RequireDefined(kOp, input);
  if (RoundsOnGpu(input))
    return Normalize(input, normalized_shape, Widened(weight), eps, ResultOf(kOp, input, weight));
  return InPrecision(
      kOp,
      [&](const Variable& x, const Variable& w) {
        return Normalize(x, normalized_shape, w, eps, x.dtype());
      },
      input, weight);
}

}  // namespace torus::ops
