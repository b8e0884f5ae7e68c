// Convolutions: PyTorch's (N, C, H, W) and (O, I, kH, kW) around our channels-last ones.
#include "ops/convolution/conv1d.h"
#include "ops/convolution/conv_transpose.h"
#include "ops/convolution/convolution.h"
#include "ops/view/view.h"
#include "tools/replay/layout.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

// Of a padding given as a text.
ops::PaddingMode ModeOf(Arguments& a) {
  const std::string padding = a.attrs().Text("padding", "");
  if (padding != "same" && padding != "valid") Throw<Unsupported>(a.op(), "padding {}", padding);
  return padding == "same" ? ops::PaddingMode::kSame : ops::PaddingMode::kValid;
}

ops::Conv2dOptions Options(Arguments& a) {
  Attrs& attrs = a.attrs();
  ops::Conv2dOptions options;
  options.stride = attrs.Pair("stride", {1, 1});
  options.dilation = attrs.Pair("dilation", {1, 1});
  options.groups = attrs.Int("groups", 1);
  if (!attrs.IsText("padding")) {
    options.padding = attrs.Pair("padding", {0, 0});
    return options;
  }
  options.padding_mode = ModeOf(a);
  return options;
}

// Without a batch, inputs have one dimension less than weights, and so have results.
Variable Batched(const Variable& input, const Variable& weight) {
  return input.rank() + 1 == weight.rank() ? ops::Unsqueeze(input, 0) : input;
}

Variable LikeBatch(const Variable& result, const Variable& input) {
  return input.rank() < result.rank() ? ops::Squeeze(result, {0}) : result;
}

// `products` are added up in the result.
OpRun ProductsRun(const Variable& y, const Variable& input, int64_t products) {
  return {.outputs = {LikeBatch(ToChannelsFirst(y), input)},
          .terms = y.numel() + products,
          .factors = {"input", "weight"}};
}

int64_t FilterSize(const Variable& weight) {
  return weight.numel() / std::max<int64_t>(1, weight.dim(0));
}

int64_t Single(Arguments& a, const std::string& name, int64_t absent) {
  const std::optional<Dims> list = a.attrs().Ints(name);
  if (list.has_value() && list->rank() != 1) Throw<Unsupported>(a.op(), "{} {}", name, *list);
  return list.has_value() ? (*list)[0] : absent;
}

OpRun Conv1d(Arguments& a) {
  const Variable input = a.Take("input"), weight = a.Take("weight");
  ops::Conv1dOptions options{.stride = Single(a, "stride", 1),
                             .dilation = Single(a, "dilation", 1),
                             .groups = a.attrs().Int("groups", 1)};
  if (a.attrs().IsText("padding"))
    options.padding_mode = ModeOf(a);
  else
    options.padding = Single(a, "padding", 0);
  const Variable y = ops::Conv1d(ToChannelsLast(Batched(input, weight)), ToChannelsLast(weight),
                                 a.Optional("bias"), options);
  return ProductsRun(y, input, y.numel() * FilterSize(weight));
}

OpRun ConvTranspose1d(Arguments& a) {
  const Variable input = a.Take("input"), weight = a.Take("weight");
  const ops::ConvTranspose1dOptions options{.stride = Single(a, "stride", 1),
                                            .padding = Single(a, "padding", 0),
                                            .output_padding = Single(a, "output_padding", 0),
                                            .groups = a.attrs().Int("groups", 1),
                                            .dilation = Single(a, "dilation", 1)};
  const Variable y = ops::ConvTranspose1d(ToChannelsLast(Batched(input, weight)),
                                          ToChannelsLast(weight), a.Optional("bias"), options);
  return ProductsRun(y, input, input.numel() * FilterSize(weight));
}

OpRun ConvTranspose2d(Arguments& a) {
  const Variable input = a.Take("input"), weight = a.Take("weight");
  const ops::ConvTranspose2dOptions options{
      .stride = a.attrs().Pair("stride", {1, 1}),
      .padding = a.attrs().Pair("padding", {0, 0}),
      .output_padding = a.attrs().Pair("output_padding", {0, 0}),
      .groups = a.attrs().Int("groups", 1),
      .dilation = a.attrs().Pair("dilation", {1, 1})};
  const Variable y = ops::ConvTranspose2d(ToChannelsLast(Batched(input, weight)),
                                          ToChannelsLast(weight), a.Optional("bias"), options);
  return ProductsRun(y, input, input.numel() * FilterSize(weight));
}

OpRun Conv2d(Arguments& a) {
  const Variable input = a.Take("input"), weight = a.Take("weight");
  const Variable y = ops::Conv2d(ToChannelsLast(WithBatch(input)), ToChannelsLast(weight),
                                 a.Optional("bias"), Options(a));
  const int64_t filter = weight.numel() / std::max<int64_t>(1, weight.dim(0));
  return {.outputs = {LikeInput(ToChannelsFirst(y), input)},
          .terms = y.numel() * (filter + 1),
          .factors = {"input", "weight"}};
}

}  // namespace

void AddConvolutions(OpTable& table) {
  table["conv1d"] = Conv1d;
  table["conv2d"] = Conv2d;
  table["conv_transpose1d"] = ConvTranspose1d;
  table["conv_transpose2d"] = ConvTranspose2d;
}

}  // namespace torus::replay
