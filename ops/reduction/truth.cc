#include "ops/reduction/truth.h"

#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/sum/reduction_shape.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

Tensor Count(std::string_view op, const Tensor& t, const Dims& reduced, bool keepdim) {
  return SumOver(op, t.To(DType::kBool).To(DType::kI64), reduced, keepdim);
}

// In the dtype of the result for such an input.
Variable Result(const Tensor& truth, const Variable& input) {
  return Variable(input.dtype() == DType::kU8 ? truth.To(DType::kU8) : truth);
}

}  // namespace

Variable Any(const Variable& input, const Dims& dims, bool keepdim) {
  RequireDefined("any", input);
  const Dims reduced = ReducedDims("any", dims, input.rank());
  const Tensor count = Count("any", input.data(), reduced, keepdim);
  return Result(ApplyCompare("any", CompareOp::kNotEqual, count, 0), input);
}

Variable All(const Variable& input, const Dims& dims, bool keepdim) {
  RequireDefined("all", input);
  const Dims reduced = ReducedDims("all", dims, input.rank());
  const Tensor count = Count("all", input.data(), reduced, keepdim);
  const double most = static_cast<double>(ReducedCount(input.shape(), reduced));
  return Result(ApplyCompare("all", CompareOp::kEqual, count, most), input);
}

Variable CountNonzero(const Variable& input, const Dims& dims) {
  RequireDefined("count_nonzero", input);
  const Dims reduced = ReducedDims("count_nonzero", dims, input.rank());
  return Variable(Count("count_nonzero", input.data(), reduced, false));
}

}  // namespace torus::ops
