#include "ops/batch_norm/over_replicas.h"

#include "ops/batch_norm/kernels.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

// Views of the exchanged tensor.
struct Packed {
  explicit Packed(const Tensor& tensor)
      : all(tensor),
        mean(all.Narrow(0, 0, all.numel() / 2)),
        var(all.Narrow(0, all.numel() / 2, all.numel() / 2)),
        count(all.Narrow(0, all.numel() - 1, 1)) {}
  Tensor all, mean, var, count;
};

Tensor Pack(const BatchMoments& own) {
  Packed packed(Tensor({2 * own.mean.numel() + 1}, DType::kF64, own.mean.device()));
  Copy(own.mean, packed.mean);
  Copy(own.var, packed.var);
  Fill(packed.count, static_cast<double>(own.count));
  return packed.all;
}

void Merge(const Packed& more, BatchMoments& all) {
  const auto count = static_cast<int64_t>(more.count.Item());
  if (count == 0) return;
  if (all.count > 0)
    kernels::MergeStatistics(more.mean, more.var, count, all.mean, all.var, all.count);
  else
    all.mean = more.mean.Clone(), all.var = more.var.Clone();
  all.count += count;
}

}  // namespace

BatchMoments OverReplicas(const BatchMoments& own, const GatherReplicas& gather) {
  BatchMoments all{own.mean, own.var};
  for (const Tensor& one : gather(Pack(own))) Merge(Packed(one), all);
  return all;
}

Tensor SumOverReplicas(const Tensor& own, const GatherReplicas& gather) {
  Tensor sum;
  for (const Tensor& one : gather(own)) {
    if (sum.defined())
      AddInPlace(sum, one);
    else
      sum = one.Clone();
  }
  return sum;
}

}  // namespace torus::ops
