#include "ops/elementwise/operators.h"

#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/comparison.h"
#include "ops/elementwise/elementwise.h"

namespace torus {
namespace {

Variable Beside(const char* op, double value, const Variable& like) {
  RequireDefined(op, like);
  return Variable(ops::NumberFor(op, value, like.data()));
}

Variable TakenFrom(const Variable& b, double a) { return ops::Sub(Beside("sub", a, b), b); }
Variable Dividing(const Variable& b, double a) { return ops::Div(Beside("div", a, b), b); }

Variable Wrapped(const Tensor& tensor) { return tensor.defined() ? Variable(tensor) : Variable(); }

}  // namespace

Variable operator-(const Variable& input) { return ops::Neg(input); }
Tensor operator-(const Tensor& input) { return (-Wrapped(input)).data(); }

// On Variables it is the op's, and Mirrored(b, a) for a number a on the left; on Tensors that of
// Variables without gradients.
#define TORUS_OPERATOR(symbol, Op, Mirrored)                                                 \
  Variable operator symbol(const Variable& a, const Variable& b) { return Op(a, b); }        \
  Variable operator symbol(const Variable& a, double b) { return Op(a, b); }                 \
  Variable operator symbol(double a, const Variable& b) { return Mirrored(b, a); }           \
  Tensor operator symbol(const Tensor& a, const Tensor& b) {                                 \
    return (Wrapped(a) symbol Wrapped(b)).data();                                            \
  }                                                                                          \
  Tensor operator symbol(const Tensor& a, double b) { return (Wrapped(a) symbol b).data(); } \
  Tensor operator symbol(double a, const Tensor& b) { return (a symbol Wrapped(b)).data(); }

TORUS_OPERATOR(+, ops::Add, ops::Add)
TORUS_OPERATOR(-, ops::Sub, TakenFrom)
TORUS_OPERATOR(*, ops::Mul, ops::Mul)
TORUS_OPERATOR(/, ops::Div, Dividing)
TORUS_OPERATOR(<, ops::Lt, ops::Gt)
TORUS_OPERATOR(<=, ops::Le, ops::Ge)
TORUS_OPERATOR(>, ops::Gt, ops::Lt)
TORUS_OPERATOR(>=, ops::Ge, ops::Le)

}  // namespace torus
