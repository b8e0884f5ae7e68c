#include "ops/indexing/indexing.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/indexing/index_check.h"
#include "ops/indexing/index_rows.h"
#include "ops/indexing/kernels.h"
#include "ops/precision/native.h"
#include "ops/view/view.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

// In place, also where the weight is strided or 16-bit.
void Renorm(const Tensor& index, double max_norm, double norm_type, Tensor weight) {
  Require(max_norm >= 0 && norm_type > 0, "embedding",
          "max_norm must be at least 0 and norm_type above 0, got {} and {}", max_norm, norm_type);
  if (CommonDevice("embedding", weight, index) == kMetaDevice) return;
  Tensor rows = weight.To(SumTypeOf(weight.dtype())).Contiguous();
  kernels::RenormRows(index, max_norm, norm_type, rows);
  if (rows.storage() != weight.storage()) Copy(rows, weight);
}

// Rows, each divided by how often the index has it.
Tensor OverCounts(const Tensor& rows, const Tensor& index) {
  const auto column = [&](int64_t size) {
    return Full({1, size, 1}, 1, rows.dtype(), rows.device());
  };
  Tensor counts = column(rows.dim(0));
  kernels::AddRows("embedding", column(index.numel()), index, -1, counts);
  return ApplyBinary("embedding", BinaryOp::kDiv, rows,
                     ApplyBinary("embedding", BinaryOp::kMaximum, counts.View({-1, 1}), 1));
}

void CheckGatherShape(const Shape& input, int dim, const Shape& index) {
  bool fits = index.rank() == input.rank();
  for (int d = 0; fits && d < input.rank(); ++d) fits = d == dim || index[d] <= input[d];
  Require(fits, "gather", "index {} does not fit input {} along dimension {}", index, input, dim);
}

// Like PyTorch, does not check dtype and shape of an empty index.
Variable GatherNothing(const Variable& input, const Shape& index) {
  return Record("gather", Empty(index, input.dtype(), input.data().device()), {input},
                [shape = input.shape()](const GradContext& g) {
                  return Gradients{Zeros(shape, g.grad().dtype(), g.grad().device())};
                });
}

}  // namespace

Variable IndexSelect(const Variable& input, int64_t dim, const Variable& index) {
  RequireDefined("index_select", input, index);
  Require(index.rank() <= 1, "index_select", "needs a 1-D index, got {}", index.shape());
  const int d = NormalizeDim("index_select", dim, input.rank());
  if (input.rank() == 0) {
    Require(index.numel() == 1, "index_select", "a scalar has one element, got {} indices",
            index.numel());
    return Reshape(IndexSelect(Reshape(input, {1}), 0, index), {});
  }
  const Tensor at = CheckedIndex("index_select", index.data(), input.dim(d));
  return Record(
      "index_select", PickedRows("index_select", input.data().Contiguous(), d, at), {input, index},
      [shape = input.shape(), d, at = Saved(at)](const GradContext& g) {
        const Tensor& dy = g.grad();
        return Gradients{
            AddedRows("index_select", dy, shape, d, at.get(), -1, dy.device()).To(dy.dtype()),
            Tensor()};
      });
}

Variable Embedding(const Variable& input, const Variable& weight,
                   std::optional<int64_t> padding_idx, std::optional<double> max_norm,
                   double norm_type, bool scale_grad_by_freq) {
  RequireDefined("embedding", input, weight);
  Require(weight.rank() == 2, "embedding", "needs a weight (count, width), got {}", weight.shape());
  const int64_t rows = weight.dim(0), padding = padding_idx.value_or(0);
  Require(padding >= -rows && padding < std::max<int64_t>(rows, 1), "embedding",
          "padding_idx {} is outside of {} rows", padding, rows);
  const int64_t skip = !padding_idx ? -1 : padding < 0 ? padding + rows : padding;
  const Tensor at = CheckedIndex("embedding", input.data(), rows);
  if (max_norm) Renorm(at, *max_norm, norm_type, weight.data());
  Shape shape = input.shape();
  shape.push_back(weight.dim(1));
  return Record(
      "embedding", PickedRows("embedding", weight.data().Contiguous(), 0, at).View(shape),
      {input, weight},
      [shape = weight.shape(), at = Saved(at), skip, scale_grad_by_freq](const GradContext& g) {
        Tensor sums = AddedRows("embedding", g.grad(), shape, 0, at.get(), skip, g.grad().device());
        if (scale_grad_by_freq) sums = OverCounts(sums, at.get());
        return Gradients{Tensor(), sums.To(g.grad().dtype())};
      });
}

Variable Gather(const Variable& input, int64_t dim, const Variable& index) {
  RequireDefined("gather", input, index);
  const int d = NormalizeDim("gather", dim, input.rank());
  if (index.numel() == 0) return GatherNothing(input, index.shape());
  if (input.rank() == 0 || index.rank() == 0) {
    Require(input.rank() <= 1 && index.rank() <= 1, "gather", "index {} does not fit input {}",
            index.shape(), input.shape());
    return Reshape(Gather(Reshape(input, {-1}), 0, Reshape(index, {-1})), index.shape());
  }
  CheckGatherShape(input.shape(), d, index.shape());
  const Tensor at = CheckedIndex("gather", index.data(), input.dim(d));
  const Tensor x = input.data().Contiguous();
  Tensor out(index.shape(), x.dtype(), CommonDevice("gather", x, at));
  kernels::Gather(x, d, at, out);
  return Record("gather", std::move(out), {input, index},
                [shape = x.shape(), d, index = Saved(at)](const GradContext& g) {
                  const DType type = SumTypeOf(g.grad().dtype());
                  Tensor dx = Zeros(shape, type, g.grad().device());
                  kernels::AddColumns("gather", g.grad().To(type), d, index.get(), dx);
                  return Gradients{dx.To(g.grad().dtype()), Tensor()};
                });
}

Variable TakeAlongDim(const Variable& input, const Variable& indices, std::optional<int64_t> dim) {
  RequireDefined("take_along_dim", input, indices);
  if (!dim) return Gather(Reshape(input, {input.numel()}), 0, Reshape(indices, {indices.numel()}));
  Require(input.rank() == indices.rank(), "take_along_dim",
          "needs as many dimensions of input and indices, got {} and {}", input.shape(),
          indices.shape());
  const int d = NormalizeDim("take_along_dim", *dim, input.rank());
  if (input.rank() == 0) return Gather(input, 0, indices);
  // Both as large as the other in every other dimension.
  Shape others = input.shape(), index_others = indices.shape();
  others[d] = index_others[d] = 1;
  Shape shape = BroadcastShapes("take_along_dim", others, index_others), index_shape = shape;
  shape[d] = input.dim(d), index_shape[d] = indices.dim(d);
  return Gather(Expand(input, shape), d, Expand(indices, index_shape));
}

}  // namespace torus::ops
