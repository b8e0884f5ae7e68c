// The weights of interpolation along one axis, as PyTorch computes them
// (aten/src/ATen/native/UpSample.h).
#pragma once

#include <cstdint>
#include <optional>

#include "ops/resampling/axis_taps.h"
#include "runtime/dtype.h"

namespace torus::ops {

enum class Interpolation { kNearest, kNearestExact, kLinear, kCubic, kArea };

// An axis of `in` pixels that becomes one of `out`, both at least 1.
struct AxisResize {
  Interpolation mode;
  int64_t in, out;
  bool align_corners = false;     // the outer pixels' centers meet, else their edges
  std::optional<double> scale{};  // outputs an input; without it that is out / in
  bool antialias = false;         // linear and cubic: the filter widens where the image shrinks
};

// Pixel i's center lies at i + 1/2. Cubic weights are Keys' (1981) with a = -3/4, or -1/2 with
// antialias. Positions are rounded to `dtype`, f32 or f64, as in PyTorch: they decide between
// pixels.
AxisTaps TapsOf(const AxisResize& axis, DType dtype);

}  // namespace torus::ops
