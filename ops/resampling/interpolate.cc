#include "ops/resampling/interpolate.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "autograd/node.h"
#include "ops/precision/in_precision.h"
#include "ops/resampling/interpolate_axis.h"
#include "ops/resampling/map_axis.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "interpolate";

// A mode's name, and how many axes it is for; 0: any.
struct NamedMode {
  const char* name;
  Interpolation mode;
  int axes;
};
constexpr NamedMode kModes[] = {
    {"nearest", Interpolation::kNearest, 0},  {"nearest-exact", Interpolation::kNearestExact, 0},
    {"linear", Interpolation::kLinear, 1},    {"bilinear", Interpolation::kLinear, 2},
    {"trilinear", Interpolation::kLinear, 3}, {"bicubic", Interpolation::kCubic, 2},
    {"area", Interpolation::kArea, 0},
};

Interpolation ModeOf(const InterpolateOptions& options, int axes) {
  const auto* const found = std::ranges::find(kModes, options.mode, &NamedMode::name);
  Require(found != std::end(kModes), kOp, "has no mode {}", options.mode);
  Require(found->axes == 0 || found->axes == axes, kOp, "mode {} is for {} axes, got {}",
          options.mode, found->axes, axes);
  const bool smooth = found->mode == Interpolation::kLinear || found->mode == Interpolation::kCubic;
  Require(smooth || !options.align_corners, kOp, "mode {} takes no align_corners", options.mode);
  Require(!options.antialias || (smooth && axes == 2), kOp,
          "antialias is for bilinear and bicubic, got {}", options.mode);
  return found->mode;
}

// The one, or that of the axis.
template <class Values>
auto OfAxis(const Values& values, int count, const char* name, int axis, int axes) {
  Require(count == 1 || count == axes, kOp, "needs one {} or {}, got {}", name, axes, count);
  return values[static_cast<decltype(values.size())>(count == 1 ? 0 : axis)];
}

AxisResize ResizeOf(const InterpolateOptions& options, Interpolation mode, int64_t in, int axis,
                    int axes) {
  AxisResize resize{.mode = mode,
                    .in = in,
                    .out = 0,
                    .align_corners = options.align_corners.value_or(false),
                    .antialias = options.antialias};
  const std::vector<int64_t> sizes(options.size.begin(), options.size.end());
  const bool by_size = !sizes.empty();
  Require(by_size == options.scale_factor.empty(), kOp, "needs either size or scale_factor");
  if (by_size) {
    resize.out = OfAxis(sizes, static_cast<int>(sizes.size()), "size", axis, axes);
  } else {
    const double factor =
        OfAxis(options.scale_factor, static_cast<int>(options.scale_factor.size()), "scale_factor",
               axis, axes);
    resize.out = static_cast<int64_t>(std::floor(static_cast<double>(in) * factor));
    if (!options.recompute_scale_factor && factor > 0) resize.scale = factor;
  }
  Require(in > 0 && resize.out > 0, kOp, "needs sizes above 0, got {} to {}", in, resize.out);
  return resize;
}

// One for each axis that changes, in the order in which they are resized.
struct AxisPass {
  int dim;
  AxisTaps taps;
};

std::vector<AxisPass> PassesOf(const InterpolateOptions& options, const Shape& shape, DType dtype) {
  const int axes = shape.rank() - 2;
  Require(axes >= 1 && axes <= 3, kOp, "needs (N, ..., C) with one to three axes, got {}", shape);
  const Interpolation mode = ModeOf(options, axes);
  std::vector<AxisPass> passes;
  for (int axis = axes - 1; axis >= 0; --axis) {
    AxisTaps taps = TapsOf(ResizeOf(options, mode, shape[axis + 1], axis, axes), dtype);
    if (!IsIdentity(taps)) passes.push_back({axis + 1, std::move(taps)});
  }
  return passes;
}

}  // namespace

Variable Interpolate(const Variable& input, const InterpolateOptions& options) {
  return InPrecision(
      kOp,
      [&](const Variable& input) {
        const auto passes = std::make_shared<const std::vector<AxisPass>>(
            PassesOf(options, input.shape(), input.dtype()));
        Tensor out = passes->empty() ? input.data().Clone() : input.data().Contiguous();
        for (const AxisPass& pass : *passes) out = MappedAlong(kOp, out, pass.dim, pass.taps);
        return Record(kOp, out, {input}, [passes](const GradContext& g) {
          Tensor dx = g.grad();
          for (auto pass = passes->rbegin(); pass != passes->rend(); ++pass)
            dx = MappedAlong(kOp, dx, pass->dim, TransposedTaps(pass->taps));
          return Gradients{dx};
        });
      },
      input);
}

}  // namespace torus::ops
