#include "ops/elementwise/operators.h"

#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/elementwise.h"

namespace torus {
namespace {

using ops::CompareOp;

// A number as an operand beside `like`.
Variable Beside(double value, const Variable& like, const char* op) {
  RequireDefined(op, like);
  return Variable(ops::Number(value, like.data()));
}

// Kernels compare f32 and f64.
Tensor Widened(const Tensor& tensor) {
  return IsLow(tensor.dtype()) ? tensor.To(DType::kF32) : tensor;
}

Variable Compare(const char* name, CompareOp op, const Variable& a, const Variable& b) {
  RequireDefined(name, a, b);
  return Variable(ops::ApplyCompare(name, op, Widened(a.data()), Widened(b.data())));
}

Variable AddNumber(double a, const Variable& b) { return ops::Add(b, a); }
Variable MulNumber(double a, const Variable& b) { return ops::Mul(b, a); }
Variable SubNumber(double a, const Variable& b) { return ops::Add(ops::Neg(b), a); }
Variable DivNumber(double a, const Variable& b) { return ops::Div(Beside(a, b, "div"), b); }

Variable Less(const Variable& a, const Variable& b) {
  return Compare("lt", CompareOp::kLess, a, b);
}
Variable LessEqual(const Variable& a, const Variable& b) {
  return Compare("le", CompareOp::kLessEqual, a, b);
}

Variable Wrapped(const Tensor& tensor) { return tensor.defined() ? Variable(tensor) : Variable(); }

}  // namespace

Variable operator-(const Variable& input) { return ops::Neg(input); }
Tensor operator-(const Tensor& input) { return (-Wrapped(input)).data(); }

// Arithmetic on Variables is the op's, and on Tensors that of Variables without gradients.
#define TORUS_ARITHMETIC(symbol, Op, OpOfNumber)                                           \
  Variable operator symbol(const Variable& a, const Variable& b) { return ops::Op(a, b); } \
  Variable operator symbol(const Variable& a, double b) { return ops::Op(a, b); }          \
  Variable operator symbol(double a, const Variable& b) { return OpOfNumber(a, b); }       \
  TORUS_ON_TENSORS(symbol)
#define TORUS_COMPARISON(symbol, name, Op, First, Second)                                       \
  Variable operator symbol(const Variable& a, const Variable& b) { return Op(First, Second); }  \
  Variable operator symbol(const Variable& a, double b) { return a symbol Beside(b, a, name); } \
  Variable operator symbol(double a, const Variable& b) { return Beside(a, b, name) symbol b; } \
  TORUS_ON_TENSORS(symbol)
#define TORUS_ON_TENSORS(symbol)                                                             \
  Tensor operator symbol(const Tensor& a, const Tensor& b) {                                 \
    return (Wrapped(a) symbol Wrapped(b)).data();                                            \
  }                                                                                          \
  Tensor operator symbol(const Tensor& a, double b) { return (Wrapped(a) symbol b).data(); } \
  Tensor operator symbol(double a, const Tensor& b) { return (a symbol Wrapped(b)).data(); }

TORUS_ARITHMETIC(+, Add, AddNumber)
TORUS_ARITHMETIC(-, Sub, SubNumber)
TORUS_ARITHMETIC(*, Mul, MulNumber)
TORUS_ARITHMETIC(/, Div, DivNumber)
TORUS_COMPARISON(<, "lt", Less, a, b)
TORUS_COMPARISON(<=, "le", LessEqual, a, b)
TORUS_COMPARISON(>, "lt", Less, b, a)
TORUS_COMPARISON(>=, "le", LessEqual, b, a)

}  // namespace torus
