#include "ops/resampling/axis_taps.h"

#include <cstddef>

namespace torus::ops {

AxisTaps TransposedTaps(const AxisTaps& taps) {
  AxisTaps back{.in = taps.out()};
  back.first.assign(static_cast<size_t>(taps.in) + 1, 0);
  back.taps.resize(taps.taps.size());
  for (const AxisTap& tap : taps.taps) ++back.first[static_cast<size_t>(tap.at) + 1];
  for (size_t i = 1; i < back.first.size(); ++i) back.first[i] += back.first[i - 1];
  std::vector<int64_t> next(back.first.begin(), back.first.end() - 1);
  for (int64_t i = 0; i < taps.out(); ++i)
    for (int64_t t = taps.first[static_cast<size_t>(i)]; t < taps.first[static_cast<size_t>(i) + 1];
         ++t) {
      const AxisTap& tap = taps.taps[static_cast<size_t>(t)];
      back.taps[static_cast<size_t>(next[static_cast<size_t>(tap.at)]++)] = {i, tap.weight};
    }
  return back;
}

bool IsIdentity(const AxisTaps& taps) {
  if (taps.in != taps.out() || taps.out() != static_cast<int64_t>(taps.taps.size())) return false;
  for (size_t i = 0; i < taps.taps.size(); ++i)
    if (taps.first[i] != static_cast<int64_t>(i) || taps.taps[i].at != taps.first[i] ||
        taps.taps[i].weight != 1)
      return false;
  return true;
}

}  // namespace torus::ops
