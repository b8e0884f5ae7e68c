// The text of an einsum, read: pure functions.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace torus::ops {

// The labels of each operand's dimensions and of the result's: 0 to 25 for A to Z, 26 to 51 for a
// to z, and numbers from 52 on for those under the ellipsis, of which the last are common to all
// operands.
struct EinsumLabels {
  std::vector<std::vector<int>> operands;
  std::vector<int> result;
};

// For operands of these ranks. Throws BadInput for an equation of another form or number of
// operands, with a result label twice or in no operand, and for ranks that do not fit.
EinsumLabels ReadEquation(std::string_view equation, std::span<const int> ranks);

}  // namespace torus::ops
