// PyTorch's type promotion (torch.result_type) for the operators that promote; Torus's own take one
// dtype.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autograd/variable.h"

namespace torus::replay {

// A tensor, a number, or neither.
struct Operand {
  Variable tensor;
  std::optional<double> number;
};

// The dtype of them all: bool < whole < floating, and within a kind the wider one. Tensors with
// dimensions decide; scalars, and after them numbers, only where theirs is the higher kind. A
// number is an f32 to tensors that are not floating, and alone.
DType PromotedType(const std::vector<Operand>& operands);

// Each in that dtype: tensors cast, numbers as scalars; undefined ones stay so.
std::vector<Variable> Promote(const std::vector<Operand>& operands);

}  // namespace torus::replay
