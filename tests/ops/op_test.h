// What the tests of ops name most: random leaves, twins, lists of variables.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "tests/testing/gradient_check.h"
#include "tests/testing/twins.h"

namespace torus::ops {

using testing::CheckTwins;
using testing::OddShapes;
using testing::RandomLeaf;
using testing::TransposedLeaf;
using testing::Twin;
using testing::UniformLeaf;
using Variables = std::vector<Variable>;
using Floats = std::vector<float>;

// An op of one input as the checks take it.
template <class F>
testing::CheckedFunction Of(const F& f) {
  return [f](const Variables& in) { return Variables{f(in[0])}; };
}

// Whole numbers, as an index or classes.
inline Variable Index(const std::vector<int64_t>& values, const Shape& shape) {
  return Variable(FromVector(values, shape));
}

// 0, 1, 2, ... in the shape.
inline Variable Counted(const Shape& shape) {
  return Variable(Arange(Numel(shape), DType::kF32).View(shape));
}

template <class T = float>
std::vector<T> Values(const Variable& v) {
  return ToVector<T>(v.data().Contiguous());
}

// What has no gradient, where the input lies: the checks of gradients run on GPUs too.
inline Variable Beside(const Variable& input, const Tensor& constant) {
  return Variable(constant.To(input.data().device()));
}
inline Variable Beside(const Variable& input, const Variable& constant) {
  return Beside(input, constant.data());
}

}  // namespace torus::ops
