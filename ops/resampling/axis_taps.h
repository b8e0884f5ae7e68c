// A linear map along one dimension, as a sparse matrix: resizing, and windows that are cut out.
#pragma once

#include <cstdint>
#include <vector>

namespace torus::ops {

// A term of an output: input `at` times `weight`.
struct AxisTap {
  int64_t at;
  double weight;
};

// Output i is the sum of taps[first[i]], ..., taps[first[i + 1] - 1], in their order.
struct AxisTaps {
  int64_t in;  // inputs
  std::vector<int64_t> first{0};
  std::vector<AxisTap> taps{};

  int64_t out() const { return static_cast<int64_t>(first.size()) - 1; }
  // Ends the terms of an output.
  void EndOutput() { first.push_back(static_cast<int64_t>(taps.size())); }
};

// The transposed matrix, which is the gradient's: terms of each input in the order of the outputs.
AxisTaps TransposedTaps(const AxisTaps& taps);

// Whether every output is the input of its number.
bool IsIdentity(const AxisTaps& taps);

}  // namespace torus::ops
