#include "ops/resampling/unfold.h"

#include <string_view>

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/precision/in_precision.h"
#include "ops/resampling/map_axis.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

// The windows along one axis of `size` pixels.
struct WindowAxis {
  int64_t size, kernel, dilation, padding, stride, count;
};

struct ImageWindows {
  WindowAxis rows, columns;
};

int64_t OfAxis(std::string_view op, const char* name, const Dims& pair, int axis, int64_t least) {
  Require(pair.rank() == 1 || pair.rank() == 2, op, "needs one {} or two, got {}", name, pair);
  const int64_t value = pair[pair.rank() == 1 ? 0 : axis];
  Require(value >= least, op, "needs a {} of at least {}, got {}", name, least, pair);
  return value;
}

ImageWindows WindowsOf(std::string_view op, const Dims& size, const Dims& kernel_size,
                       const Dims& dilation, const Dims& padding, const Dims& stride) {
  const auto axis = [&](int i) {
    WindowAxis a{
        OfAxis(op, "size", size, i, 0),         OfAxis(op, "kernel_size", kernel_size, i, 1),
        OfAxis(op, "dilation", dilation, i, 1), OfAxis(op, "padding", padding, i, 0),
        OfAxis(op, "stride", stride, i, 1),     0};
    const int64_t room = a.size + 2 * a.padding - a.dilation * (a.kernel - 1) - 1;
    Require(room >= 0, op,
            "a window of {} pixels, {} apart, does not fit into {} and a padding of {}", a.kernel,
            a.dilation, a.size, a.padding);
    a.count = room / a.stride + 1;
    return a;
  };
  return {axis(0), axis(1)};
}

Tensor ZeroPadded(const Tensor& x, const ImageWindows& w) {
  const int64_t top = w.rows.padding, left = w.columns.padding;
  if (top == 0 && left == 0) return x.Contiguous();
  Tensor out =
      Zeros({x.dim(0), x.dim(1) + 2 * top, x.dim(2) + 2 * left, x.dim(3)}, x.dtype(), x.device());
  Tensor inside = out.Narrow(1, top, x.dim(1)).Narrow(2, left, x.dim(2));
  Copy(x, inside);
  return out;
}

// (n, rows, columns, kernel rows, kernel columns, c)
Shape WindowShape(const ImageWindows& w, int64_t n, int64_t c) {
  return {n, w.rows.count, w.columns.count, w.rows.kernel, w.columns.kernel, c};
}

Tensor Unfolded(const Tensor& x, const ImageWindows& w) {
  const Tensor padded = ZeroPadded(x, w);
  const Strides& s = padded.strides();
  const Strides strides{s[0],
                        s[1] * w.rows.stride,
                        s[2] * w.columns.stride,
                        s[1] * w.rows.dilation,
                        s[2] * w.columns.dilation,
                        s[3]};
  const Tensor view(padded.storage(), WindowShape(w, x.dim(0), x.dim(3)), strides, padded.offset(),
                    padded.dtype());
  return view.Clone().View(
      {x.dim(0), w.rows.count * w.columns.count, w.rows.kernel * w.columns.kernel * x.dim(3)});
}

// From pixels of the windows, one after another, to the pixels of the image; the padding is lost.
AxisTaps FoldTaps(const WindowAxis& a) {
  AxisTaps taken{.in = a.size};
  for (int64_t window = 0; window < a.count; ++window)
    for (int64_t k = 0; k < a.kernel; ++k) {
      const int64_t pixel = window * a.stride + k * a.dilation - a.padding;
      if (pixel >= 0 && pixel < a.size) taken.taps.push_back({pixel, 1});
      taken.EndOutput();
    }
  return TransposedTaps(taken);
}

Tensor Folded(std::string_view op, const Tensor& y, const ImageWindows& w, int64_t c) {
  const int64_t n = y.dim(0);
  const Tensor by_axis =
      y.Contiguous().View(WindowShape(w, n, c)).Permute({0, 1, 3, 2, 4, 5}).Contiguous();
  const Tensor pixels =
      by_axis.View({n, w.rows.count * w.rows.kernel, w.columns.count * w.columns.kernel, c});
  return MappedAlong(op, MappedAlong(op, pixels, 2, FoldTaps(w.columns)), 1, FoldTaps(w.rows));
}

}  // namespace

Variable Unfold(const Variable& input, const Dims& kernel_size, const Dims& dilation,
                const Dims& padding, const Dims& stride) {
  RequireDefined("unfold", input);
  Require(input.rank() == 4, "unfold", "needs images (N, H, W, C), got {}", input.shape());
  const ImageWindows w =
      WindowsOf("unfold", {input.dim(1), input.dim(2)}, kernel_size, dilation, padding, stride);
  return InPrecision(
      "unfold",
      [&](const Variable& input) {
        return Record("unfold", Unfolded(input.data(), w), {input},
                      [w, c = input.dim(3)](const GradContext& g) {
                        return Gradients{Folded("unfold", g.grad(), w, c)};
                      });
      },
      input);
}

Variable Fold(const Variable& input, const Dims& output_size, const Dims& kernel_size,
              const Dims& dilation, const Dims& padding, const Dims& stride) {
  RequireDefined("fold", input);
  const ImageWindows w = WindowsOf("fold", output_size, kernel_size, dilation, padding, stride);
  const int64_t pixels = w.rows.kernel * w.columns.kernel, count = w.rows.count * w.columns.count;
  Require(input.rank() == 3 && input.dim(1) == count && input.dim(2) % pixels == 0, "fold",
          "needs (N, {}, a multiple of {}), got {}", count, pixels, input.shape());
  return InPrecision(
      "fold",
      [&](const Variable& input) {
        return Record("fold", Folded("fold", input.data(), w, input.dim(2) / pixels), {input},
                      [w](const GradContext& g) { return Gradients{Unfolded(g.grad(), w)}; });
      },
      input);
}

}  // namespace torus::ops
