// Images that are resized, cut into windows and summed back: PyTorch's layout around ours.
#include <algorithm>

#include "ops/resampling/interpolate.h"
#include "ops/resampling/pixel_shuffle.h"
#include "ops/resampling/unfold.h"
#include "ops/view/view.h"
#include "tools/replay/layout.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

std::vector<double> Factors(Attrs& attrs) {
  const nlohmann::json factors = attrs.Raw("scale_factor");
  if (factors.is_null()) return {};
  if (factors.is_number()) return {factors.get<double>()};
  return factors.get<std::vector<double>>();
}

// A pixel's position has the rounding of the image's size, and so many eps of a difference of
// pixels has the result.
OpRun Interpolate(Arguments& a) {
  Attrs& attrs = a.attrs();
  ops::InterpolateOptions options{.size = attrs.Ints("size").value_or(Dims{}),
                                  .scale_factor = Factors(attrs),
                                  .mode = attrs.Text("mode", "nearest")};
  if (attrs.Has("align_corners")) options.align_corners = attrs.Flag("align_corners", false);
  options.recompute_scale_factor = attrs.Flag("recompute_scale_factor", false);
  options.antialias = attrs.Flag("antialias", false);
  const Variable input = a.Take("input");
  const Variable y = ToChannelsFirst(ops::Interpolate(ToChannelsLast(input), options));
  int64_t largest = 1;
  for (int d = 2; d < input.rank(); ++d) largest = std::max({largest, input.dim(d), y.dim(d)});
  return {.outputs = {y},
          .terms = y.numel() + input.numel(),
          .least = largest * largest,
          .gradient_size = 1};
}

struct WindowArguments {
  Dims kernel_size, dilation, padding, stride;
};

WindowArguments TakeWindows(Arguments& a) {
  Attrs& attrs = a.attrs();
  const std::optional<Dims> kernel = attrs.Ints("kernel_size");
  if (!kernel) Throw<Unsupported>(a.op(), "without kernel_size");
  return {*kernel, attrs.Ints("dilation").value_or(Dims{1}),
          attrs.Ints("padding").value_or(Dims{0}), attrs.Ints("stride").value_or(Dims{1})};
}

// The pixels of one window.
std::pair<int64_t, int64_t> KernelPair(const Dims& k) { return {k[0], k[k.rank() - 1]}; }

// Rows (N, windows, kernel, C) to PyTorch's (N, C kernel, windows).
OpRun Unfold(Arguments& a) {
  const WindowArguments w = TakeWindows(a);
  const Variable input = a.Take("input"), image = ToChannelsLast(WithBatch(input));
  const Variable rows = ops::Unfold(image, w.kernel_size, w.dilation, w.padding, w.stride);
  const auto [kh, kw] = KernelPair(w.kernel_size);
  const int64_t n = rows.dim(0), windows = rows.dim(1), c = image.dim(3);
  const Variable y =
      ops::Reshape(ops::Permute(ops::Reshape(rows, {n, windows, kh * kw, c}), {0, 3, 2, 1}),
                   {n, c * kh * kw, windows});
  return {.outputs = {LikeInput(y, input)}, .terms = y.numel(), .gradient_size = 1};
}

OpRun Fold(Arguments& a) {
  const WindowArguments w = TakeWindows(a);
  const std::optional<Dims> size = a.attrs().Ints("output_size");
  if (!size) Throw<Unsupported>(a.op(), "without output_size");
  const Variable input = a.Take("input");
  const Variable columns = input.rank() == 2 ? ops::Unsqueeze(input, 0) : input;
  const auto [kh, kw] = KernelPair(w.kernel_size);
  const int64_t n = columns.dim(0), windows = columns.dim(2), c = columns.dim(1) / (kh * kw);
  const Variable rows =
      ops::Reshape(ops::Permute(ops::Reshape(columns, {n, c, kh * kw, windows}), {0, 3, 2, 1}),
                   {n, windows, kh * kw * c});
  const Variable y =
      ToChannelsFirst(ops::Fold(rows, *size, w.kernel_size, w.dilation, w.padding, w.stride));
  return {.outputs = {input.rank() == 2 ? ops::Squeeze(y, {0}) : y},
          .terms = input.numel() + y.numel(),
          .least = kh * kw,
          .gradient_size = 1};
}

// Channels of any number of images, one image or a batch.
template <Variable (*kOp)(const Variable&, int64_t)>
OpRun Shuffle(Arguments& a, const char* factor) {
  const int64_t by = a.attrs().Int(factor, 1);
  const Variable input = a.Take("input");
  const int rank = input.rank();
  const Variable y = ops::Movedim(kOp(ops::Movedim(input, rank - 3, -1), by), -1, rank - 3);
  return {.outputs = {y}, .terms = y.numel(), .gradient_size = 1};
}

}  // namespace

void AddResampling(OpTable& table) {
  table["interpolate"] = Interpolate;
  table["unfold"] = Unfold;
  table["fold"] = Fold;
  table["pixel_shuffle"] = [](Arguments& a) {
    return Shuffle<ops::PixelShuffle>(a, "upscale_factor");
  };
  table["pixel_unshuffle"] = [](Arguments& a) {
    return Shuffle<ops::PixelUnshuffle>(a, "downscale_factor");
  };
}

}  // namespace torus::replay
