// Convolution: PyTorch's (N, C, H, W) and (O, I, kH, kW) around our channels-last one.
#include "ops/convolution/convolution.h"
#include "tools/replay/layout.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

ops::Conv2dOptions Options(Attrs& attrs) {
  ops::Conv2dOptions options;
  options.stride = attrs.Pair("stride", {1, 1});
  options.dilation = attrs.Pair("dilation", {1, 1});
  options.groups = attrs.Int("groups", 1);
  if (!attrs.IsText("padding")) {
    options.padding = attrs.Pair("padding", {0, 0});
    return options;
  }
  const std::string padding = attrs.Text("padding", "");
  if (padding != "same" && padding != "valid") Throw<Unsupported>("conv2d", "padding {}", padding);
  options.padding_mode = padding == "same" ? ops::PaddingMode::kSame : ops::PaddingMode::kValid;
  return options;
}

OpRun Conv2d(Arguments& a) {
  const Variable input = a.Take("input"), weight = a.Take("weight");
  const Variable y = ops::Conv2d(ToChannelsLast(WithBatch(input)), ToChannelsLast(weight),
                                 a.Optional("bias"), Options(a.attrs()));
  const int64_t filter = weight.numel() / std::max<int64_t>(1, weight.dim(0));
  return {.outputs = {LikeInput(ToChannelsFirst(y), input)},
          .terms = y.numel() * (filter + 1),
          .factors = {"input", "weight"}};
}

}  // namespace

void AddConvolutions(OpTable& table) { table["conv2d"] = Conv2d; }

}  // namespace torus::replay
