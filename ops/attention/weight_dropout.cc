#include "ops/attention/weight_dropout.h"

#include <cmath>

#include "runtime/parallel_for.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

}  // namespace

cpu::WeightDropout KeyedDropout::Kernel() const {
  if (streams.empty()) return {};
  // With p = 1 every weight is dropped and the scale never used.
  return {streams.data(), heads, static_cast<uint64_t>(std::llround(p * 0x1p32)),
          p == 1 ? 0 : 1 / (1 - p)};
}

KeyedDropout MakeDropout(const AttentionOptions& o, const Shape& batch) {
  Require(o.dropout_p >= 0 && o.dropout_p <= 1, kOp, "dropout_p must be in [0, 1], got {}",
          o.dropout_p);
  if (o.dropout_p == 0) return {};
  Require(o.context != nullptr, kOp, "dropout_p {} needs the step's context", o.dropout_p);
  if (!o.context->training || Numel(batch) == 0) return {};
  const int64_t samples = std::ssize(o.context->samples);
  Require(batch.rank() >= 1 && samples > 0 && batch[0] % samples == 0, kOp,
          "needs dimension 0 of the batch {} to be a multiple of the {} samples of the step", batch,
          samples);
  KeyedDropout dropout{.heads = Numel(batch) / samples, .p = o.dropout_p};
  for (int64_t sample : o.context->samples)
    dropout.streams.emplace_back(RandomKey{.seed = o.context->seed,
                                           .step = static_cast<uint64_t>(o.context->step),
                                           .layer = o.layer,
                                           .sample = static_cast<uint64_t>(sample)});
  return dropout;
}

Tensor DropoutTensor(const KeyedDropout& dropout, const Shape& scores, DType dtype) {
  struct {
    int64_t rows, keys;
    cpu::WeightDropout dropout;
  } const call{scores[scores.rank() - 2], scores[scores.rank() - 1], dropout.Kernel()};
  Tensor out(scores, dtype);
  if (out.numel() == 0) return out;
  VisitCompute(kOp, dtype, [&]<class T>(ComputeType<T>) {
    T* p = out.mutable_data<T>();
    ParallelFor(out.numel() / call.keys, 1, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at)
        cpu::DropoutFactors(call, at / call.rows, at % call.rows, 0, call.keys, p + at * call.keys);
    });
  });
  return out;
}

}  // namespace torus::ops
