#include "ops/sort/sort.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/indexing/kernels.h"
#include "ops/sort/kernels.h"
#include "runtime/defined_tensor.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

// The first `count` indices along d, which has that many elements.
Tensor OrderOf(std::string_view op, const Tensor& x, int d, bool descending, int64_t count) {
  if (x.rank() == 0) return Zeros({}, DType::kI64, x.device());
  const Tensor rows = x.Transpose(d, -1).Contiguous();
  Shape shape = rows.shape();
  const int64_t size = rows.dim(-1);
  shape[shape.rank() - 1] = count;
  Tensor order(shape, DType::kI64, x.device());
  if (order.numel() > 0) {
    Tensor by_row = order.View({-1, count});
    kernels::SortRows(op, rows.View({-1, size}), descending, by_row);
  }
  return order.Transpose(d, -1).Contiguous();
}

// The elements of the input at an index that names none twice.
Variable RecordPicked(std::string_view op, const Variable& input, int d, const Tensor& index) {
  if (input.rank() == 0)
    return Record(op, input.data().Clone(), {input},
                  [](const GradContext& g) { return Gradients{g.grad()}; });
  const Tensor x = input.data().Contiguous();
  Tensor out(index.shape(), x.dtype(), x.device());
  if (out.numel() > 0) kernels::Gather(x, d, index, out);
  return Record(op, std::move(out), {input},
                [d, shape = x.shape(), index = Saved(index)](const GradContext& g) {
                  Tensor dx = Zeros(shape, g.grad().dtype(), g.grad().device());
                  if (index.get().numel() > 0) kernels::Scatter(g.grad(), d, index.get(), dx);
                  return Gradients{dx};
                });
}

int64_t SizeAlong(const Variable& input, int d) { return input.rank() == 0 ? 1 : input.dim(d); }

}  // namespace

SortResult Sort(const Variable& input, int64_t dim, bool descending, bool /*stable*/) {
  RequireDefined("sort", input);
  const int d = NormalizeDim("sort", dim, input.rank());
  const Tensor order = OrderOf("sort", input.data(), d, descending, SizeAlong(input, d));
  return {RecordPicked("sort", input, d, order), order};
}

Tensor Argsort(const Tensor& input, int64_t dim, bool descending, bool /*stable*/) {
  RequireDefined("argsort", input);
  const int d = NormalizeDim("argsort", dim, input.rank());
  return OrderOf("argsort", input, d, descending, input.rank() == 0 ? 1 : input.dim(d));
}

SortResult TopK(const Variable& input, int64_t k, int64_t dim, bool largest, bool /*sorted*/) {
  RequireDefined("topk", input);
  const int d = NormalizeDim("topk", dim, input.rank());
  Require(k >= 0 && k <= SizeAlong(input, d), "topk", "needs k in [0, {}], got {}",
          SizeAlong(input, d), k);
  Require(input.rank() > 0 || k == 1, "topk", "a scalar has one element, got k {}", k);
  const Tensor order = OrderOf("topk", input.data(), d, largest, k);
  return {RecordPicked("topk", input, d, order), order};
}

}  // namespace torus::ops
