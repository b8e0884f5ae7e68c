#include "ops/tensor_parallel/rank_sums.h"

#include "autograd/node.h"

namespace torus::ops {
namespace {

Tensor SumOf(const Tensor& own, const TensorRanks& ranks) {
  if (own.device() == kMetaDevice) return Tensor(own.shape(), own.dtype(), own.device());
  return ranks.sum(own);
}

}  // namespace

Variable CopyToRanks(const Variable& input, const TensorRanks& ranks) {
  if (ranks.size == 1) return input;
  return Record("copy_to_ranks", input.data(), {input},
                [ranks](const GradContext& g) { return Gradients{SumOf(g.grad(), ranks)}; });
}

Variable SumOverRanks(const Variable& input, const TensorRanks& ranks) {
  if (ranks.size == 1) return input;
  return Record("sum_over_ranks", SumOf(input.data(), ranks), {input},
                [](const GradContext& g) { return Gradients{g.grad()}; });
}

}  // namespace torus::ops
