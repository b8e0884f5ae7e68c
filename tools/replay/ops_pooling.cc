// Pooling: PyTorch's (N, C, H, W) or (C, H, W) around our channels-last one.
#include <algorithm>

#include "ops/pooling/average_pool.h"
#include "ops/pooling/max_pool.h"
#include "ops/view/view.h"
#include "tools/replay/layout.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

Dims KernelSize(Attrs& attrs) {
  const std::optional<Dims> size = attrs.Ints("kernel_size");
  if (!size) Throw<Unsupported>("pooling", "without kernel_size");
  return *size;
}

Variable ToOurs(const Variable& input) { return ToChannelsLast(WithBatch(input)); }

Variable FromOurs(const Variable& y, const Variable& input) {
  return LikeInput(ToChannelsFirst(y), input);
}

OpRun MaxPool2d(Arguments& a) {
  Attrs& attrs = a.attrs();
  const Variable input = a.Take("input");
  ops::MaxPool2dOptions options{.kernel_size = KernelSize(attrs)};
  options.stride = attrs.Ints("stride").value_or(Dims{});
  options.padding = attrs.Ints("padding").value_or(options.padding);
  options.dilation = attrs.Ints("dilation").value_or(options.dilation);
  options.ceil_mode = attrs.Flag("ceil_mode", false);
  const bool with_indices = attrs.Flag("return_indices", false);
  const ops::MaxPoolResult result = ops::MaxPool2dWithIndices(ToOurs(input), options);
  OpRun run{.outputs = {FromOurs(result.output, input)}, .terms = result.output.numel()};
  if (with_indices) run.outputs.push_back(FromOurs(Variable(result.indices), input));
  return run;
}

OpRun AvgPool2d(Arguments& a) {
  Attrs& attrs = a.attrs();
  const Variable input = a.Take("input");
  ops::AvgPool2dOptions options{.kernel_size = KernelSize(attrs)};
  options.stride = attrs.Ints("stride").value_or(Dims{});
  options.padding = attrs.Ints("padding").value_or(options.padding);
  options.ceil_mode = attrs.Flag("ceil_mode", false);
  options.count_include_pad = attrs.Flag("count_include_pad", true);
  if (attrs.Has("divisor_override")) options.divisor_override = attrs.Int("divisor_override", 1);
  const Variable y = ops::AvgPool2d(ToOurs(input), options);
  const Dims& k = options.kernel_size;
  return {.outputs = {FromOurs(y, input)}, .terms = y.numel() * k[0] * k[k.rank() - 1]};
}

// None, alone or in a pair, keeps the input's size: our -1.
Dims OutputSize(Attrs& attrs) {
  const nlohmann::json size = attrs.Raw("output_size");
  if (size.is_null()) return {-1};
  if (!size.is_array()) return *attrs.Ints("output_size");
  Dims pair;
  for (const nlohmann::json& one : size) pair.push_back(one.is_null() ? -1 : one.get<int64_t>());
  return pair;
}

OpRun AdaptiveAvgPool2d(Arguments& a) {
  const Variable input = a.Take("input");
  const Variable y = ops::AdaptiveAvgPool2d(ToOurs(input), OutputSize(a.attrs()));
  return {.outputs = {FromOurs(y, input)}, .terms = input.numel() + y.numel()};
}

}  // namespace

void AddPooling(OpTable& table) {
  table["max_pool2d"] = MaxPool2d;
  table["avg_pool2d"] = AvgPool2d;
  table["adaptive_avg_pool2d"] = AdaptiveAvgPool2d;
}

}  // namespace torus::replay
