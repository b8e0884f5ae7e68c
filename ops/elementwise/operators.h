// Arithmetic and comparison by operators, found by argument-dependent lookup:
//
//   using namespace torus;  // or not: Variable's and Tensor's namespace is searched anyway
//   Variable loss = ops::Mean((y - 2 * x) / (1 + x));
//
// On Variables they are the ops of elementwise.h, with their gradients. On Tensors they record
// nothing. Operands broadcast and have one dtype, to which a number is first rounded; one that an
// integer dtype does not have, as 2.5, is BadInput: Cast the integers. Errors are those of the ops,
// named "add", "sub", "mul", "div", "neg", "lt", "le", "gt" or "ge". To combine a Tensor with a
// Variable, say what it is: Variable(tensor) is a constant.
//
// There is no +=, since neither a new value under the old name nor a change of shared memory would
// be seen to be meant: write x = x + y, or AddInPlace (runtime/kernels.h). There is no == of values
// either: Variables compare by identity; ops::Eq (comparison.h) compares values.
#pragma once

#include "autograd/variable.h"

namespace torus {

// -input, element by element.
Variable operator-(const Variable& input);
Tensor operator-(const Tensor& input);

// An operator of two Ts, or of one and a number.
#define TORUS_OPERATOR(symbol, T, Result)                 \
  /** element by element, as the file says */             \
  Result operator symbol(const T& input, const T& other); \
  /** the same with a number */                           \
  Result operator symbol(const T& input, double other);   \
  /** the same with a number */                           \
  Result operator symbol(double input, const T& other);
// That operator of Variables and of Tensors.
#define TORUS_OPERATORS(symbol)              \
  TORUS_OPERATOR(symbol, Variable, Variable) \
  TORUS_OPERATOR(symbol, Tensor, Tensor)

TORUS_OPERATORS(+)
TORUS_OPERATORS(-)
TORUS_OPERATORS(*)
TORUS_OPERATORS(/)

// Bool results, without gradient; false where an element is NaN.
TORUS_OPERATORS(<)
TORUS_OPERATORS(<=)
TORUS_OPERATORS(>)
TORUS_OPERATORS(>=)

#undef TORUS_OPERATORS
#undef TORUS_OPERATOR

}  // namespace torus
