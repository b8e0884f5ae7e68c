#include "ops/attention/weight_dropout.h"

#include "ops/attention/kernels.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

}  // namespace

KeyedDropout MakeDropout(const AttentionOptions& o, const Shape& batch) {
  Require(o.dropout_p >= 0 && o.dropout_p <= 1, kOp, "dropout_p must be in [0, 1], got {}",
          o.dropout_p);
  if (o.dropout_p == 0) return {};
  Require(o.context != nullptr, kOp, "dropout_p {} needs the step's context", o.dropout_p);
  if (!o.context->training || Numel(batch) == 0) return {};
  Require(batch.rank() >= 1, kOp, "dropout needs a dimension of samples, got the batch {}", batch);
  const std::vector<int64_t> samples = SamplesOf(*o.context, batch[0]);
  const int64_t count = std::ssize(samples);
  Require(batch[0] % count == 0, kOp,
          "needs dimension 0 of the batch {} to be a multiple of the {} of StepContext::samples",
          batch, count);
  KeyedDropout dropout{.heads = Numel(batch) / count, .first_head = o.first_head, .p = o.dropout_p};
  for (int64_t sample : samples)
    dropout.streams.emplace_back(RandomKey{.seed = o.context->seed,
                                           .step = static_cast<uint64_t>(o.context->step),
                                           .layer = o.layer,
                                           .sample = static_cast<uint64_t>(sample)});
  return dropout;
}

Tensor DropoutTensor(const KeyedDropout& dropout, const Tensor& weights) {
  Tensor factors(weights.shape(), weights.dtype(), weights.device());
  kernels::DropoutFactors(dropout, factors);
  return factors;
}

}  // namespace torus::ops
