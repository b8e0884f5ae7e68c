// Layer norm.
#include <algorithm>
#include <cmath>

#include "ops/layer_norm/layer_norm.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

// 1 / sqrt(var + eps) of the row where it is largest: what rounding of the input is magnified by.
double LargestInverseDeviation(const Tensor& input, int64_t n, double eps) {
  const std::vector<double> x = ToVector<double>(input.To(DType::kF64).Contiguous());
  double largest = 0;
  for (auto row = x.begin(); n > 0 && row != x.end(); row += n) {
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) mean += row[i] / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) squares += (row[i] - mean) * (row[i] - mean);
    largest = std::fmax(largest, 1 / std::sqrt(squares / static_cast<double>(n) + eps));
  }
  return largest;
}

OpRun LayerNorm(Arguments& a) {
  const Variable input = a.Take("input"), weight = a.Optional("weight"), bias = a.Optional("bias");
  const std::optional<Dims> shape = a.attrs().Ints("normalized_shape");
  if (!shape.has_value()) Throw<Unsupported>(a.op(), "without normalized_shape");
  const double eps = a.attrs().Number("eps", 1e-5);
  OpRun run{.outputs = {ops::LayerNorm(input, *shape, weight, bias, eps)},
            .terms = input.numel(),
            .factors = {"input", "weight"}};
  // An output has as many terms as a row, a parameter's gradient as there are rows.
  const int64_t n = Numel(*shape);
  run.least = std::max<int64_t>({1, n, input.numel() / std::max<int64_t>(1, n)});
  run.coefficient = LargestInverseDeviation(input.data(), n, eps);
  return run;
}

}  // namespace

void AddLayerNorm(OpTable& table) { table["layer_norm"] = LayerNorm; }

}  // namespace torus::replay
