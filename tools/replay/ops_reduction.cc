// Reductions over dimensions.
#include <algorithm>

#include "ops/reduction/cumsum.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/logsumexp.h"
#include "ops/reduction/reduction.h"
#include "ops/reduction/variance.h"
#include "tools/replay/compare.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

OpRun Sum(Arguments& a) {
  const Dims dims = a.attrs().Ints("dim").value_or(Dims{});
  const Variable input = a.TakeAsDType("input");
  return {.outputs = {ops::Sum(input, dims, a.attrs().Flag("keepdim", false))},
          .terms = input.numel(),
          .factors = {"input"}};
}

OpRun Mean(Arguments& a) {
  const Dims dims = a.attrs().Ints("dim").value_or(Dims{});
  const Variable input = a.TakeAsDType("input");
  const Variable mean = ops::Mean(input, dims, a.attrs().Flag("keepdim", false));
  return {.outputs = {mean},
          .terms = input.numel(),
          .factors = {"input"},
          .coefficient = static_cast<double>(mean.numel()) /
                         static_cast<double>(std::max<int64_t>(1, input.numel()))};
}

// The last element sums them all; so does the gradient of the first.
OpRun Cumsum(Arguments& a) {
  const int64_t dim = a.attrs().Int("dim", 0);
  const Variable input = a.TakeAsDType("input");
  const int64_t count = input.rank() == 0 ? 1 : input.data().dim(static_cast<int>(dim));
  return {
      .outputs = {ops::Cumsum(input, dim)}, .terms = input.numel() * count, .factors = {"input"}};
}

OpRun Amax(Arguments& a) {
  const Dims dims = a.attrs().Ints("dim").value_or(Dims{});
  const Variable input = a.Take("input");
  return {.outputs = {ops::Amax(input, dims, a.attrs().Flag("keepdim", false))}};
}

OpRun Argmax(Arguments& a) {
  std::optional<int64_t> dim;
  if (a.attrs().Has("dim")) dim = a.attrs().Int("dim", 0);
  const Variable input = a.Take("input");
  return {.outputs = {Variable(ops::Argmax(input.data(), dim, a.attrs().Flag("keepdim", false)))}};
}

// `unbiased` is the older name of a correction of 1 or 0; it may stand in the place of `dim`.
double Correction(Attrs& attrs) {
  const bool placed = attrs.Raw("dim").is_boolean();
  if (placed || attrs.Has("unbiased")) return attrs.Flag(placed ? "dim" : "unbiased", true) ? 1 : 0;
  return attrs.Number("correction", 1);
}

OpRun Var(Arguments& a) {
  const double correction = Correction(a.attrs());
  Dims dims;
  if (!a.attrs().Raw("dim").is_boolean()) dims = a.attrs().Ints("dim").value_or(dims);
  const Variable input = a.Take("input");
  const Variable var = ops::Var(input, dims, correction, a.attrs().Flag("keepdim", false));
  // A term is (x - mean)^2 / (n - correction), at most (2 max)^2.
  const double n =
      static_cast<double>(input.numel()) / static_cast<double>(std::max<int64_t>(1, var.numel()));
  return {.outputs = {var},
          .terms = input.numel(),
          .factors = {"input"},
          .coefficient = 4 * LargestMagnitude(input.data()) / std::max(1.0, n - correction)};
}

OpRun LogSumExp(Arguments& a) {
  const Dims dims = a.attrs().Ints("dim").value_or(Dims{});
  const Variable input = a.Take("input");
  const Variable y = ops::LogSumExp(input, dims, a.attrs().Flag("keepdim", false));
  // The gradient is exp(input - y), where y has the rounding of its own size.
  return {.outputs = {y},
          .terms = input.numel(),
          .gradient_size = std::max(1.0, LargestMagnitude(y.data()))};
}

}  // namespace

void AddReductions(OpTable& table) {
  table["sum"] = Sum;
  table["mean"] = Mean;
  table["cumsum"] = Cumsum;
  table["amax"] = Amax;
  table["argmax"] = Argmax;
  table["var"] = Var;
  table["logsumexp"] = LogSumExp;
}

}  // namespace torus::replay
