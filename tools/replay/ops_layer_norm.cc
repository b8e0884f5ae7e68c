// Layer norm and RMS norm.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/layer_norm/layer_norm.h"
#include "ops/layer_norm/rms_norm.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

// 1 / sqrt(v + eps) of the row where it is largest, with v the variance, or the mean square of rows
// that are not centered: what rounding of the input is magnified by.
double LargestInverseDeviation(const Tensor& input, int64_t n, double eps, bool centered) {
  const std::vector<double> x = ToVector<double>(input.To(DType::kF64).Contiguous());
  double largest = 0;
  for (auto row = x.begin(); n > 0 && row != x.end(); row += n) {
    double mean = 0, squares = 0;
    for (int64_t i = 0; centered && i < n; ++i) mean += row[i] / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) squares += (row[i] - mean) * (row[i] - mean);
    largest = std::fmax(largest, 1 / std::sqrt(squares / static_cast<double>(n) + eps));
  }
  return largest;
}

Dims NormalizedShape(Arguments& a) {
  const std::optional<Dims> shape = a.attrs().Ints("normalized_shape");
  if (!shape.has_value()) Throw<Unsupported>(a.op(), "without normalized_shape");
  return *shape;
}

// An output has as many terms as a row, a parameter's gradient as there are rows.
OpRun RowsRun(const Variable& y, const Variable& input, const Dims& shape, double magnified) {
  const int64_t n = Numel(shape);
  return {.outputs = {y},
          .terms = input.numel(),
          .least = std::max<int64_t>({1, n, input.numel() / std::max<int64_t>(1, n)}),
          .factors = {"input", "weight"},
          .coefficient = magnified};
}

OpRun LayerNorm(Arguments& a) {
  const Variable input = a.Take("input"), weight = a.Optional("weight"), bias = a.Optional("bias");
  const Dims shape = NormalizedShape(a);
  const double eps = a.attrs().Number("eps", 1e-5);
  return RowsRun(ops::LayerNorm(input, shape, weight, bias, eps), input, shape,
                 LargestInverseDeviation(input.data(), Numel(shape), eps, true));
}

OpRun RmsNorm(Arguments& a) {
  const Variable input = a.Take("input"), weight = a.Optional("weight");
  const Dims shape = NormalizedShape(a);
  const std::optional<double> eps = a.attrs().OptionalNumber("eps");
  const double added = eps.value_or(std::numeric_limits<float>::epsilon());
  return RowsRun(ops::RmsNorm(input, shape, weight, eps), input, shape,
                 LargestInverseDeviation(input.data(), Numel(shape), added, false));
}

}  // namespace

void AddLayerNorm(OpTable& table) {
  table["layer_norm"] = LayerNorm;
  table["rms_norm"] = RmsNorm;
}

}  // namespace torus::replay
