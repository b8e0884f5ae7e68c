#include "ops/tensor_parallel/vocabulary.h"

#include "autograd/node.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/math.h"
#include "ops/elementwise/select.h"
#include "ops/indexing/index_check.h"
#include "ops/indexing/indexing.h"
#include "ops/loss/class_targets.h"
#include "ops/loss/kernels.h"
#include "ops/loss/reduce_losses.h"
#include "ops/precision/in_precision.h"
#include "ops/tensor_parallel/rank_sums.h"
#include "ops/tokens/tokens.h"
#include "ops/view/view.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "cross_entropy";

// The local number of the row without a gradient, if this rank has it.
std::optional<int64_t> PaddingHere(std::optional<int64_t> padding, int64_t first, int64_t count) {
  if (!padding || *padding < first || *padding >= first + count) return std::nullopt;
  return *padding - first;
}

// Per-row results over the classes of a part, or of all ranks.
struct RowSums {
  Tensor largest, log_sum;  // log_sum = log sum exp(logit - largest)
  Tensor loss;
};

RowSums SumsOfPart(const Tensor& x, const ClassTargets& targets) {
  const auto of_rows = [&] { return Tensor({x.dim(0)}, x.dtype(), x.device()); };
  RowSums sums{of_rows(), of_rows(), of_rows()};
  kernels::CrossEntropy(x, targets, sums.largest, sums.log_sum, sums.loss);
  return sums;
}

// What a rank sends to the others, (4, N): largest, log_sum, the target's logit minus the largest,
// and 1 if this rank has the target; the last two are 0 if not.
Tensor Pack(const RowSums& own, const Tensor& here) {
  const Variable is_here(here.To(own.loss.dtype()));
  const Variable at_target = Mul(is_here, Sub(Variable(own.log_sum), Variable(own.loss)));
  Tensor packed({4, own.loss.numel()}, own.loss.dtype(), own.loss.device());
  const Tensor rows[] = {own.largest, own.log_sum, at_target.data(), is_here.data()};
  for (int i = 0; i < 4; ++i) {
    Tensor row = packed.Select(0, i);
    Copy(rows[i], row);
  }
  return packed;
}

Variable Row(const Tensor& packed, int i) { return Variable(packed.Select(0, i)); }

// Merges the sums of all ranks, in rank order.
RowSums Merge(const std::vector<Tensor>& parts) {
  Variable largest = Row(parts[0], 0);
  for (const Tensor& part : parts) largest = Maximum(largest, Row(part, 0));
  Variable sum, at_target, counts;
  const auto add = [](Variable& total, const Variable& term) {
    total = total.defined() ? Add(total, term) : term;
  };
  for (const Tensor& part : parts) {
    const Variable less = Sub(Row(part, 0), largest);
    add(sum, Exp(Add(less, Row(part, 1))));
    add(at_target, Mul(Row(part, 3), Add(less, Row(part, 2))));
    add(counts, Row(part, 3));
  }
  const Variable log_sum = Log(sum);
  return {largest.data(), log_sum.data(), Mul(counts, Sub(log_sum, at_target)).data()};
}

Variable LossOf(const Variable& logits, const ClassTargets& targets, const TensorRanks& ranks) {
  const Tensor x = logits.data().Contiguous();
  const Tensor here = FindRowsOfPart(targets.numbers, targets.first, x.dim(1)).here;
  const RowSums all = Merge(ranks.gather(Pack(SumsOfPart(x, targets), here)));
  Tensor count({}, x.dtype(), x.device());
  kernels::CountTargets(targets, count);
  return Record("cross_entropy_of_part", ReduceLosses(kOp, all.loss, count), {logits},
                [x = Saved(x), numbers = Saved(targets.numbers), first = targets.first,
                 largest = Saved(all.largest), log_sum = Saved(all.log_sum),
                 count = Saved(count)](const GradContext& g) {
                  const Tensor& logits = x.get();
                  const Tensor dloss =
                      GradientOfLosses(kOp, g.grad(), count.get(), {logits.dim(0)});
                  Tensor dx(logits.shape(), logits.dtype(), dloss.device());
                  kernels::CrossEntropyBackward(logits, {.numbers = numbers.get(), .first = first},
                                                largest.get(), log_sum.get(), dloss, dx);
                  return Gradients{dx};
                });
}

}  // namespace

Variable EmbeddingOfPart(const Variable& ids, const Variable& weight, const ClassPart& part,
                         std::optional<int64_t> padding_idx, const TensorRanks& ranks) {
  const Tensor at = CheckedIndex("embedding", ids.data(), part.all);
  const int64_t count = weight.dim(0);
  const RowsOfPart local = FindRowsOfPart(at, part.first, count);
  const Variable rows =
      Embedding(Variable(local.rows), weight, PaddingHere(padding_idx, part.first, count));
  const Variable here = Unsqueeze(Variable(local.here), -1);
  const Variable none(Zeros({}, rows.dtype(), rows.data().device()));
  return SumOverRanks(Where(here, rows, none), ranks);
}

Variable CrossEntropyOfPart(const Variable& logits, const Variable& target, const ClassPart& part,
                            const TensorRanks& ranks) {
  Require(logits.rank() == 2, kOp, "needs logits (N, classes), got {}", logits);
  ClassTargets targets =
      CheckedTargets(kOp, {logits.dim(0), part.all}, target.data(), ClassTargets().ignore_index);
  targets.first = part.first;
  return InPrecision(
      "cross_entropy_of_part", [&](const Variable& x) { return LossOf(x, targets, ranks); },
      logits);
}

}  // namespace torus::ops
