#include "ops/statistics/extremum.h"

#include "autograd/node.h"
#include "ops/elementwise/binary.h"
#include "ops/reduction/reduction_shape.h"
#include "ops/reduction/sum.h"
#include "ops/statistics/extremum_kernel.h"

namespace torus::ops {
namespace {

struct Largest {
  Tensor value, where;  // with the reduced dimensions of size 1
};

// Over the dimensions `reduced`, brought to the end as one.
Largest LargestOf(std::string_view op, const Tensor& input, const Dims& reduced) {
  const Shape shape = ReducedShape(input.shape(), reduced, true);
  const int64_t count = ReducedCount(input.shape(), reduced);
  Require(count > 0 || Numel(shape) == 0, op, "{} has nothing to choose from", input.shape());
  Dims order;
  for (int d = 0; d < input.rank(); ++d)
    if (std::find(reduced.begin(), reduced.end(), d) == reduced.end()) order.push_back(d);
  for (int64_t d : reduced) order.push_back(d);
  const Tensor rows = input.Permute(order).Contiguous();
  Largest out{Tensor(shape, input.dtype(), input.device()),
              Tensor(shape, DType::kI64, input.device())};
  VisitCompute(op, input.dtype(), [&]<class T>(ComputeType<T>) {
    cpu::MaxMiddle(Numel(shape), count, 1, rows.data<T>(), out.value.mutable_data<T>(),
                   out.where.mutable_data<int64_t>());
  });
  return out;
}

}  // namespace

Variable Amax(const Variable& input, const Dims& dims, bool keepdim) {
  const Dims reduced = ReducedDims("amax", dims, input.rank());
  const Tensor value = LargestOf("amax", input.data(), reduced).value;
  return Record("amax", value.View(ReducedShape(input.shape(), reduced, keepdim)), {input},
                [x = Saved(input), value = Saved(value), reduced](const GradContext& g) {
                  const Tensor won = ApplyCompare("amax", CompareOp::kEqual, x.get(), value.get());
                  const Tensor one = Full({}, 1, value.get().dtype(), value.get().device());
                  const Tensor winners =
                      SumOver("amax", ApplySelect("amax", won, one, 0), reduced, true);
                  const Tensor share = ApplyBinary("amax", BinaryOp::kDiv,
                                                   g.grad().View(value.get().shape()), winners);
                  // 0, but NaN over a NaN, which equals nothing: there the share is g / 0.
                  const Tensor none = ApplyBinary("amax", BinaryOp::kMul, share, 0);
                  return Gradients{ApplySelect("amax", won, share, none)};
                });
}

Tensor Argmax(const Tensor& input, std::optional<int64_t> dim, bool keepdim) {
  const Dims reduced = ReducedDims("argmax", dim ? Dims{*dim} : Dims{}, input.rank());
  return LargestOf("argmax", input, reduced)
      .where.View(ReducedShape(input.shape(), reduced, keepdim));
}

}  // namespace torus::ops
