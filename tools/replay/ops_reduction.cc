// Sums and means over dimensions.
#include "ops/reduction/reduction.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

void RefuseDType(Arguments& a) {
  if (a.attrs().Has("dtype")) Throw<Unsupported>(a.op(), "dtype {}", a.attrs().Raw("dtype").dump());
}

OpRun Sum(Arguments& a) {
  RefuseDType(a);
  const Dims dims = a.attrs().Ints("dim").value_or(Dims{});
  const Variable input = a.Take("input");
  return {.outputs = {ops::Sum(input, dims, a.attrs().Flag("keepdim", false))},
          .terms = input.numel(),
          .factors = {"input"}};
}

OpRun Mean(Arguments& a) {
  RefuseDType(a);
  const Dims dims = a.attrs().Ints("dim").value_or(Dims{});
  const Variable input = a.Take("input");
  const Variable mean = ops::Mean(input, dims, a.attrs().Flag("keepdim", false));
  return {.outputs = {mean},
          .terms = input.numel(),
          .factors = {"input"},
          .coefficient = static_cast<double>(mean.numel()) /
                         static_cast<double>(std::max<int64_t>(1, input.numel()))};
}

}  // namespace

void AddReductions(OpTable& table) {
  table["sum"] = Sum;
  table["mean"] = Mean;
}

}  // namespace torus::replay
