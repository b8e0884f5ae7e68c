#include "ops/indexing/embedding_bag.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/select.h"
#include "ops/indexing/index_check.h"
#include "ops/indexing/indexing.h"
#include "ops/indexing/kernels.h"
#include "ops/precision/in_precision.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "embedding_bag";

// N indices in bags.
struct Bags {
  Tensor starts;   // (B), i64
  Tensor of_each;  // (N), i64: the bag of each index
  Tensor padding;  // (N), bool: indices that count in no bag; undefined if there are none
  int64_t count() const { return starts.numel(); }
};

Tensor StartsOf(const Variable& input, const Variable& offsets) {
  if (input.rank() == 2) {
    Require(!offsets.defined(), kOp, "indices {} are bags by themselves and need no offsets",
            input.shape());
    const Tensor numbers = Arange(input.dim(0), DType::kI64, input.data().device());
    return ApplyBinary(kOp, BinaryOp::kMul, numbers, static_cast<double>(input.dim(1)));
  }
  Require(input.rank() == 1 && offsets.defined() && offsets.rank() == 1, kOp,
          "needs indices (B, L), or (N) and offsets (B), got {} and {}", input, offsets);
  const Tensor starts = CheckedIndex(kOp, offsets.data(), input.numel() + 1);
  if (starts.numel() > 0) CheckedIndex(kOp, starts.Narrow(0, 0, 1), 1);
  return starts;
}

Tensor PaddingOf(const Variable& input, int64_t rows, std::optional<int64_t> padding_idx) {
  if (!padding_idx) return {};
  const int64_t at = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  const Tensor numbers = input.data().Reshape({input.numel()}).To(DType::kI64);
  return ApplyCompare(kOp, CompareOp::kEqual, numbers, static_cast<double>(at));
}

Bags BagsOf(const Variable& input, const Variable& weight, const Variable& offsets,
            const EmbeddingBagOptions& options) {
  Bags bags{.starts = StartsOf(input, offsets),
            .padding = PaddingOf(input, weight.dim(0), options.padding_idx)};
  bags.of_each = Tensor({input.numel()}, DType::kI64, CommonDevice(kOp, input.data(), bags.starts));
  Require(input.numel() == 0 || bags.count() > 0, kOp, "{} indices are in no bag", input.numel());
  if (input.numel() > 0) kernels::BagOfEach(bags.starts, bags.of_each);
  return bags;
}

// (rows, width) as (1, rows, width), which the kernels of rows take.
Tensor AsOne(const Tensor& rows) { return rows.View({1, rows.dim(0), rows.dim(1)}); }

Tensor SumsOf(const Tensor& rows, const Bags& bags) {
  Tensor sums({bags.count(), rows.dim(1)}, rows.dtype(), CommonDevice(kOp, rows, bags.of_each));
  Tensor to = AsOne(sums);
  kernels::AddRows(kOp, AsOne(rows.Contiguous()), bags.of_each, -1, to);
  return sums;
}

Variable SumOfBags(const Variable& rows, const Bags& bags) {
  return Record("embedding_bag", SumsOf(rows.data(), bags), {rows},
                [bag = Saved(bags.of_each), shape = rows.shape()](const GradContext& g) {
                  Tensor dx(shape, g.grad().dtype(), g.grad().device());
                  Tensor to = AsOne(dx);
                  kernels::SelectRows(kOp, AsOne(g.grad()), bag.get(), to);
                  return Gradients{dx};
                });
}

Variable MaxOfBags(const Variable& rows, const Bags& bags) {
  const Tensor x = rows.data().Contiguous();
  Tensor y({bags.count(), x.dim(1)}, x.dtype(), CommonDevice(kOp, x, bags.starts));
  Tensor at(y.shape(), DType::kI64, y.device());
  kernels::MaxOfBags(x, bags.starts, bags.padding, y, at);
  return Record("embedding_bag", y, {rows},
                [at = Saved(at), shape = x.shape()](const GradContext& g) {
                  // An empty bag's gradient goes to one row more.
                  Tensor dx = Zeros({shape[0] + 1, shape[1]}, g.grad().dtype(), g.grad().device());
                  kernels::AddColumns(kOp, g.grad(), 0, at.get(), dx);
                  return Gradients{dx.Narrow(0, 0, shape[0])};
                });
}

// The number of indices that count in each bag, at least 1: (B, 1).
Variable CountsOf(const Bags& bags, const Tensor& like) {
  Tensor ones = Full({bags.of_each.numel(), 1}, 1, like.dtype(), like.device());
  if (bags.padding.defined())
    ones =
        ApplySelect(kOp, bags.padding.View({-1, 1}), Zeros({}, like.dtype(), like.device()), ones);
  return Variable(ApplyBinary(kOp, BinaryOp::kMaximum, SumsOf(ones, bags), 1));
}

Variable Reduced(const Variable& rows, const Bags& bags, BagMode mode) {
  if (mode == BagMode::kMax) return MaxOfBags(rows, bags);
  const Variable counted = bags.padding.defined()
                               ? MaskedFill(rows, Variable(bags.padding.View({rows.dim(0), 1})), 0)
                               : rows;
  const Variable sums = SumOfBags(counted, bags);
  return mode == BagMode::kSum ? sums : Div(sums, CountsOf(bags, rows.data()));
}

Variable Weighted(const Variable& rows, const Variable& input, const Variable& weights) {
  if (!weights.defined()) return rows;
  Require(weights.shape() == input.shape(), kOp, "per_sample_weights must have shape {}, got {}",
          input.shape(), weights.shape());
  return Mul(rows, Reshape(weights, {input.numel(), 1}));
}

}  // namespace

BagMode ParseBagMode(std::string_view name) {
  Require(name == "sum" || name == "mean" || name == "max", kOp,
          "mode must be sum, mean or max, got {}", name);
  return name == "sum" ? BagMode::kSum : name == "mean" ? BagMode::kMean : BagMode::kMax;
}

Variable EmbeddingBag(const Variable& input, const Variable& weight, const Variable& offsets,
                      const EmbeddingBagOptions& o) {
  RequireDefined(kOp, input, weight);
  Require(!o.per_sample_weights.defined() || o.mode == BagMode::kSum, kOp,
          "per_sample_weights go with mode sum alone");
  Require(!o.scale_grad_by_freq || o.mode != BagMode::kMax, kOp,
          "scale_grad_by_freq does not go with mode max");
  const Variable rows =
      Embedding(input.rank() == 2 ? Reshape(input, {input.numel()}) : input, weight, o.padding_idx,
                o.max_norm, o.norm_type, o.scale_grad_by_freq);
  const Bags bags = BagsOf(input, weight, offsets, o);
  const Variable sums = InPrecision(
      kOp,
      [&](const Variable& rows, const Variable& weights) {
        return Reduced(Weighted(rows, input, weights), bags, o.mode);
      },
      rows, o.per_sample_weights);
  if (!o.include_last_offset) return sums;
  Require(offsets.defined() && offsets.numel() >= 1, kOp,
          "include_last_offset needs offsets, at least one, got {}", offsets);
  return Narrow(sums, 0, 0, bags.count() - 1);
}

}  // namespace torus::ops
