// Reductions over dimensions.
#include <algorithm>
#include <cmath>

#include "ops/elementwise/cast.h"
#include "ops/elementwise/extrema.h"
#include "ops/reduction/cumsum.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/logsumexp.h"
#include "ops/reduction/norm.h"
#include "ops/reduction/prod.h"
#include "ops/reduction/reduction.h"
#include "ops/reduction/truth.h"
#include "ops/reduction/variance.h"
#include "tools/replay/compare.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

Dims DimsOf(Arguments& a) { return a.attrs().Ints("dim").value_or(Dims{}); }

// In the dtype that the case asks for: sums of i32 are i64.
Variable InDType(Arguments& a, const Variable& out) {
  return a.attrs().Has("dtype") ? ops::Cast(out, a.TakeAsDType("input").dtype()) : out;
}

OpRun Sum(Arguments& a) {
  const Dims dims = DimsOf(a);
  const Variable input = a.TakeAsDType("input");
  const Variable sum = ops::Sum(input, dims, a.attrs().Flag("keepdim", false));
  return {.outputs = {InDType(a, sum)}, .terms = input.numel(), .factors = {"input"}};
}

OpRun Mean(Arguments& a) {
  const Dims dims = DimsOf(a);
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
  return {.outputs = {InDType(a, ops::Cumsum(input, dim))},
          .terms = input.numel() * count,
          .factors = {"input"}};
}

OpRun Prod(Arguments& a) {
  const Dims dims = DimsOf(a);
  const Variable input = a.TakeAsDType("input");
  const Variable out = ops::Prod(input, dims, a.attrs().Flag("keepdim", false));
  return {.outputs = {InDType(a, out)}, .terms = input.numel()};
}

template <Variable (*kOp)(const Variable&, const Dims&, bool)>
OpRun OverDims(Arguments& a) {
  const Dims dims = DimsOf(a);
  const Variable input = a.Take("input");
  return {.outputs = {kOp(input, dims, a.attrs().Flag("keepdim", false))}};
}

OpRun CountNonzero(Arguments& a) {
  const Dims dims = DimsOf(a);
  return {.outputs = {ops::CountNonzero(a.Take("input"), dims)}};
}

template <Tensor (*kOp)(const Tensor&, std::optional<int64_t>, bool)>
OpRun Place(Arguments& a) {
  std::optional<int64_t> dim;
  if (a.attrs().Has("dim")) dim = a.attrs().Int("dim", 0);
  const Variable input = a.Take("input");
  return {.outputs = {Variable(kOp(input.data(), dim, a.attrs().Flag("keepdim", false)))}};
}

// Of all elements, along a dimension, or of two tensors.
template <Variable (*kAll)(const Variable&),
          ops::ValuesAndIndices (*kAlong)(const Variable&, int64_t, bool),
          Variable (*kOfTwo)(const Variable&, const Variable&)>
OpRun Extremum(Arguments& a) {
  if (a.Has("other")) {
    const auto pair = a.Promoted({"input", "other"});
    return {.outputs = {kOfTwo(pair[0], pair[1])}, .terms = pair[0].numel(), .gradient_size = 1};
  }
  const Variable input = a.Take("input");
  if (!a.attrs().Has("dim")) return {.outputs = {kAll(input)}};
  const auto [values, indices] =
      kAlong(input, a.attrs().Int("dim", 0), a.attrs().Flag("keepdim", false));
  return {.outputs = {values, indices}};
}

// The order of a norm, by its name in this function.
double Order(Arguments& a, const char* name) {
  if (!a.attrs().IsText(name)) return a.attrs().Number(name, 2);
  if (a.attrs().Raw(name) == "fro") return 2;
  return a.attrs().OptionalNumber(name).value_or(2);
}

OpRun NormOf(Arguments& a, const char* order) {
  const double p = Order(a, order);
  const Dims dims = DimsOf(a);
  const Variable input = a.TakeAsDType("input");
  const Variable norm = ops::VectorNorm(input, p, dims, a.attrs().Flag("keepdim", false));
  return {.outputs = {norm}, .terms = input.numel()};
}

OpRun Norm(Arguments& a) { return NormOf(a, "p"); }
OpRun VectorNorm(Arguments& a) { return NormOf(a, "ord"); }

// `unbiased` is the older name of a correction of 1 or 0; it may stand in the place of `dim`.
double Correction(Attrs& attrs) {
  const bool placed = attrs.Raw("dim").is_boolean();
  if (placed || attrs.Has("unbiased")) return attrs.Flag(placed ? "dim" : "unbiased", true) ? 1 : 0;
  return attrs.Number("correction", 1);
}

// What rounding does to a gradient (x - mean) / ((n - correction) std): both ends of the difference
// may be much larger than it.
double SpreadGradient(const Variable& input, const Variable& deviation, double freedom) {
  double least = INFINITY;
  for (const double value : ToVector<double>(deviation.data().To(DType::kF64).To(Device{})))
    if (value > 0) least = std::min(least, value);
  return LargestMagnitude(input.data()) / (freedom * least);
}

struct Spread {
  explicit Spread(Arguments& a) : correction(Correction(a.attrs())) {
    if (!a.attrs().Raw("dim").is_boolean()) dims = DimsOf(a);
    input = a.Take("input");
    keepdim = a.attrs().Flag("keepdim", false);
  }
  // Terms of each variance, less the correction; at least 1.
  double Freedom(const Variable& out) const {
    const double outs = static_cast<double>(std::max<int64_t>(1, out.numel()));
    return std::max(1.0, static_cast<double>(input.numel()) / outs - correction);
  }
  double correction;
  Dims dims;
  Variable input;
  bool keepdim;
};

OpRun Var(Arguments& a) {
  const Spread s(a);
  const Variable var = ops::Var(s.input, s.dims, s.correction, s.keepdim);
  // A term is (x - mean)^2 / (n - correction), at most (2 max)^2.
  return {.outputs = {var},
          .terms = s.input.numel(),
          .factors = {"input"},
          .coefficient = 4 * LargestMagnitude(s.input.data()) / s.Freedom(var)};
}

OpRun Std(Arguments& a) {
  const Spread s(a);
  const Variable deviation = ops::Std(s.input, s.dims, s.correction, s.keepdim);
  return {.outputs = {deviation},
          .terms = s.input.numel(),
          .factors = {"input"},
          .coefficient = 2 / std::sqrt(s.Freedom(deviation)),
          .gradient_size = SpreadGradient(s.input, deviation, s.Freedom(deviation))};
}

OpRun LogSumExp(Arguments& a) {
  const Dims dims = DimsOf(a);
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
  table["prod"] = Prod;
  table["amax"] = OverDims<ops::Amax>;
  table["amin"] = OverDims<ops::Amin>;
  table["argmax"] = Place<ops::Argmax>;
  table["argmin"] = Place<ops::Argmin>;
  table["max"] = Extremum<ops::Max, ops::Max, ops::Maximum>;
  table["min"] = Extremum<ops::Min, ops::Min, ops::Minimum>;
  table["any"] = OverDims<ops::Any>;
  table["all"] = OverDims<ops::All>;
  table["count_nonzero"] = CountNonzero;
  table["var"] = Var;
  table["std"] = Std;
  table["norm"] = Norm;
  table["linalg.vector_norm"] = VectorNorm;
  table["vector_norm"] = VectorNorm;
  table["logsumexp"] = LogSumExp;
}

}  // namespace torus::replay
