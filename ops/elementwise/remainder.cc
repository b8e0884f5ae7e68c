#include "ops/elementwise/remainder.h"

#include "autograd/node.h"
#include "ops/elementwise/binary.h"
#include "ops/precision/in_precision.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

// -quotient times the gradient, summed to b's shape.
Tensor DivisorGradient(std::string_view op, BinaryOp quotient, const Tensor& a, const Tensor& b,
                       const Tensor& grad) {
  const Tensor taken = ApplyBinary(op, BinaryOp::kMul, grad, ApplyBinary(op, quotient, a, b));
  return ApplyBinary(op, BinaryOp::kMul, SumTo(taken, b.shape()), -1);
}

// `other` is undefined if it is a number.
Variable RecordRest(std::string_view op, BinaryOp quotient, Tensor out, const Variable& input,
                    const Variable& other = {}) {
  const bool both = other.defined() && other.requires_grad();
  return Record(op, std::move(out), {input, other},
                [op, quotient, shape = input.shape(), a = Saved(both ? input : Variable()),
                 b = Saved(both ? other : Variable())](const GradContext& g) {
                  const auto divisor = [&] {
                    return DivisorGradient(op, quotient, a.get(), b.get(), g.grad());
                  };
                  return Gradients{g.wants(0) ? SumTo(g.grad(), shape) : Tensor(),
                                   g.wants(1) ? divisor() : Tensor()};
                });
}

}  // namespace

Variable Remainder(const Variable& input, const Variable& other) {
  return InPrecision(
      "remainder",
      [](const Variable& input, const Variable& other) {
        Tensor out = ApplyBinary("remainder", BinaryOp::kRemainder, input.data(), other.data());
        return RecordRest("remainder", BinaryOp::kFloorDiv, std::move(out), input, other);
      },
      input, other);
}

Variable Remainder(const Variable& input, double other) {
  return InPrecision(
      "remainder",
      [&](const Variable& input) {
        Tensor out = ApplyBinary("remainder", BinaryOp::kRemainder, input.data(), other);
        return RecordRest("remainder", BinaryOp::kFloorDiv, std::move(out), input);
      },
      input);
}

Variable Fmod(const Variable& input, const Variable& other) {
  return InPrecision(
      "fmod",
      [](const Variable& input, const Variable& other) {
        Tensor out = ApplyBinary("fmod", BinaryOp::kFmod, input.data(), other.data());
        return RecordRest("fmod", BinaryOp::kTruncDiv, std::move(out), input, other);
      },
      input, other);
}

Variable Fmod(const Variable& input, double other) {
  return InPrecision(
      "fmod",
      [&](const Variable& input) {
        Tensor out = ApplyBinary("fmod", BinaryOp::kFmod, input.data(), other);
        return RecordRest("fmod", BinaryOp::kTruncDiv, std::move(out), input);
      },
      input);
}

}  // namespace torus::ops
