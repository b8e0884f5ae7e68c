#include "ops/resampling/interpolate_axis.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace torus::ops {
namespace {

// Inputs an output, and where outputs lie among the inputs; in T.
template <class T>
struct Positions {
  explicit Positions(const AxisResize& axis) : align_corners(axis.align_corners) {
    if (align_corners)
      step = axis.out > 1 ? static_cast<T>(axis.in - 1) / static_cast<T>(axis.out - 1) : T(0);
    else
      step = axis.scale ? static_cast<T>(1 / *axis.scale)
                        : static_cast<T>(axis.in) / static_cast<T>(axis.out);
  }
  // In pixels from the center of the first.
  T Of(int64_t i) const {
    if (align_corners) return step * static_cast<T>(i);
    return step * (static_cast<T>(i) + T(0.5)) - T(0.5);
  }
  bool align_corners;
  T step;
};

// Keys' cubic convolution, at a distance of x pixels.
template <class T>
T CubicWeight(T x, T a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

template <class T>
void Nearest(const AxisResize& axis, int64_t i, const Positions<T>& positions, AxisTaps& taps) {
  const T place = axis.mode == Interpolation::kNearest ? positions.step * static_cast<T>(i)
                                                       : std::max(positions.Of(i), T(0)) + T(0.5);
  taps.taps.push_back({std::min(static_cast<int64_t>(std::floor(place)), axis.in - 1), 1});
}

// The pixel before a position, and how far behind it that lies, in [0, 1].
template <class T>
struct Between {
  Between(T position, int64_t in)
      : pixel(std::min(static_cast<int64_t>(std::floor(position)), in - 1)),
        rest(std::clamp(position - static_cast<T>(pixel), T(0), T(1))) {}
  int64_t pixel;
  T rest;
};

template <class T>
void Linear(const AxisResize& axis, int64_t i, const Positions<T>& positions, AxisTaps& taps) {
  if (axis.in == axis.out) return taps.taps.push_back({i, 1});  // whatever the scale
  const Between<T> at(std::max(positions.Of(i), T(0)), axis.in);
  taps.taps.push_back({at.pixel, T(1) - at.rest});
  taps.taps.push_back({std::min(at.pixel + 1, axis.in - 1), at.rest});
}

// Pixels beyond the border are as the last.
template <class T>
void Cubic(const AxisResize& axis, int64_t i, const Positions<T>& positions, AxisTaps& taps) {
  const Between<T> at(positions.Of(i), axis.in);
  for (int64_t k = -1; k <= 2; ++k)
    taps.taps.push_back({std::clamp<int64_t>(at.pixel + k, 0, axis.in - 1),
                         CubicWeight(static_cast<T>(k) - at.rest, T(-0.75))});
}

// All pixels within the filter, which is as wide as an output where those are wider than pixels.
template <class T>
void Filtered(const AxisResize& axis, int64_t i, const Positions<T>& positions, AxisTaps& taps) {
  const bool cubic = axis.mode == Interpolation::kCubic;
  const T width = std::max(positions.step, T(1)), support = (cubic ? 2 : 1) * width;
  const T center = positions.step * (static_cast<T>(i) + T(0.5));
  const auto begin = std::max<int64_t>(0, static_cast<int64_t>(center - support + T(0.5)));
  const auto end = std::min<int64_t>(axis.in, static_cast<int64_t>(center + support + T(0.5)));
  const size_t first = taps.taps.size();
  T total = 0;
  for (int64_t pixel = begin; pixel < end; ++pixel) {
    const T distance = (static_cast<T>(pixel) - center + T(0.5)) * (1 / width);
    const T weight =
        cubic ? CubicWeight(distance, T(-0.5)) : std::max(T(0), 1 - std::abs(distance));
    taps.taps.push_back({pixel, weight});
    total += weight;
  }
  for (size_t t = first; t < taps.taps.size(); ++t)
    if (total != 0) taps.taps[t].weight = static_cast<T>(taps.taps[t].weight) / total;
}

// The mean of the pixels that the output covers, if only in part.
void Area(const AxisResize& axis, int64_t i, AxisTaps& taps) {
  const int64_t begin = i * axis.in / axis.out, end = ((i + 1) * axis.in + axis.out - 1) / axis.out;
  for (int64_t pixel = begin; pixel < end; ++pixel)
    taps.taps.push_back({pixel, 1.0 / static_cast<double>(end - begin)});
}

template <class T>
void AddOutput(const AxisResize& axis, int64_t i, const Positions<T>& positions, AxisTaps& taps) {
  const bool smooth = axis.mode == Interpolation::kLinear || axis.mode == Interpolation::kCubic;
  if (axis.mode == Interpolation::kArea) return Area(axis, i, taps);
  if (!smooth) return Nearest(axis, i, positions, taps);
  if (axis.antialias) return Filtered(axis, i, positions, taps);
  if (axis.mode == Interpolation::kLinear) return Linear(axis, i, positions, taps);
  Cubic(axis, i, positions, taps);
}

template <class T>
AxisTaps TapsIn(const AxisResize& axis) {
  const Positions<T> positions(axis);
  AxisTaps taps{.in = axis.in};
  for (int64_t i = 0; i < axis.out; ++i) {
    AddOutput(axis, i, positions, taps);
    taps.EndOutput();
  }
  return taps;
}

}  // namespace

AxisTaps TapsOf(const AxisResize& axis, DType dtype) {
  return dtype == DType::kF64 ? TapsIn<double>(axis) : TapsIn<float>(axis);
}

}  // namespace torus::ops
