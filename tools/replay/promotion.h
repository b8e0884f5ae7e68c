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
  bool whole = false;  // the number is an integer in Python
};

// The common dtype. Kinds are ordered bool < integer < floating point; within a kind the wider
// dtype wins. Tensors with dimensions decide; scalar tensors, and after them numbers, count only if
// theirs is a higher kind. Where numbers decide, integers are i64 and others f32.
DType PromotedType(const std::vector<Operand>& operands);

// Each operand in that dtype: tensors are cast, numbers become scalars, undefined operands stay
// undefined.
std::vector<Variable> Promote(const std::vector<Operand>& operands);

}  // namespace torus::replay
