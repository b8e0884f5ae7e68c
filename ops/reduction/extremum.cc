#include "ops/reduction/extremum.h"

#include <algorithm>

#include "autograd/node.h"
#include "ops/elementwise/binary.h"
#include "ops/precision/in_precision.h"
#include "ops/reduction/kernels.h"
#include "ops/sum/reduction_shape.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

struct Largest {
  Tensor value, where;  // with the reduced dimensions of size 1
};

// The maximum over the dimensions `reduced`, which are moved to the end and merged into one.
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
  kernels::LargestOfRows(op, rows.View({Numel(shape), count}), out.value, out.where);
  return out;
}

}  // namespace

Variable Amax(const Variable& input, const Dims& dims, bool keepdim) {
  return InPrecision(
      "amax",
      [&](const Variable& input) {
        const Dims reduced = ReducedDims("amax", dims, input.rank());
        const Tensor value = LargestOf("amax", input.data(), reduced).value;
        return Record("amax", value.View(ReducedShape(input.shape(), reduced, keepdim)), {input},
                      [x = Saved(input), value = Saved(value), reduced](const GradContext& g) {
                        const Tensor won =
                            ApplyCompare("amax", CompareOp::kEqual, x.get(), value.get());
                        const Tensor ones = ApplySelect("amax", won, Number(1, value.get()), 0);
                        const Tensor winners = SumOver("amax", ones, reduced, true);
                        const Tensor share = ApplyBinary(
                            "amax", BinaryOp::kDiv, g.grad().View(value.get().shape()), winners);
                        // 0, but NaN if the largest is NaN: nothing equals it, so the share is g /
                        // 0.
                        const Tensor none = ApplyBinary("amax", BinaryOp::kMul, share, 0);
                        return Gradients{ApplySelect("amax", won, share, none)};
                      });
      },
      input);
}

Tensor Argmax(const Tensor& input, std::optional<int64_t> dim, bool keepdim) {
  const Dims reduced = ReducedDims("argmax", dim ? Dims{*dim} : Dims{}, input.rank());
  return LargestOf("argmax", input, reduced)
      .where.View(ReducedShape(input.shape(), reduced, keepdim));
}

}  // namespace torus::ops
