// PyTorch's type promotion (torch.result_type), for the operators that promote. Torus' own ops take
// one dtype.
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

// The common dtype. Kinds are ordered bool < integer < floating point; within a kind the wider
// dtype wins. Tensors with dimensions decide; scalar tensors, and after them numbers, count only if
// theirs is a higher kind. Alone, or with tensors that are not floating-point, a number is f32.
DType PromotedType(const std::vector<Operand>& operands);

// Each operand in that dtype: tensors are cast, numbers become scalars, undefined operands stay
// undefined.
std::vector<Variable> Promote(const std::vector<Operand>& operands);

}  // namespace torus::replay
