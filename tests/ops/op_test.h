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

// An op of one input as the checks take it.
template <class F>
testing::CheckedFunction Of(const F& f) {
  return [f](const Variables& in) { return Variables{f(in[0])}; };
}

}  // namespace torus::ops
