#include "parallel/data_parallel/coded_bucket_sums.h"

#include <span>
#include <utility>
#include <vector>

#include "parallel/collectives/direct.h"
#include "parallel/data_parallel/coded_sum.h"
#include "parallel/data_parallel/factor_sum.h"
#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus::parallel {
namespace {

std::span<float> Elements(Tensor& tensor) {
  return {tensor.mutable_data<float>(), static_cast<size_t>(tensor.numel())};
}

}  // namespace

std::unique_ptr<PendingCollective> CodedBucketSums::Start(int i) {
  const bool coded = buckets().bucket(i).dtype() == DType::kF32 && step_ >= warmup_;
  return coded ? StartCoded(i) : BucketSums::Start(i);
}

// The key contains the indices, because all uses of a tied parameter have the same name.
std::vector<CodedPart> CodedBucketSums::PartsOf(int i) {
  std::vector<CodedPart> parts;
  const std::vector<NamedVariable>& parameters = buckets().parameters(i);
  for (size_t p = 0; p < parameters.size(); ++p) {
    Tensor part = buckets().Part(i, p);
    const std::string key = fmt::format("{} {}.{}", parameters[p].name, i, p);
    CodecMemory* const memory = codec_->is_stateful() ? &memories_[key] : nullptr;
    parts.push_back({Elements(part), part.shape(), memory});
  }
  return parts;
}

// The number of earlier buckets that begin with the same (then tied) parameter. The bucket's index
// cannot be used: tensor-parallel ranks may have different numbers of buckets of slices before one
// that they all have.
int CodedBucketSums::UseOf(int i) const {
  const auto first = [this](int bucket) { return buckets().parameters(bucket).front().name; };
  int before = 0;
  for (int b = 0; b < i; ++b) before += first(b) == first(i) ? 1 : 0;
  return before;
}

std::unique_ptr<PendingCollective> CodedBucketSums::StartCoded(int i) {
  Tensor behind = buckets().Behind(i);
  const std::string name = fmt::format("{} {}", buckets().parameters(i).front().name, UseOf(i));
  const CodecContext context{
      .step = step_, .scale = scale_, .seed = seed_, .stream = HashName(name.c_str())};
  for (int r = 0; r < replicas().size(); ++r)
    if (r != replicas().rank())
      saved_[r] += static_cast<int64_t>(PlainBytesTo(r, i)) - static_cast<int64_t>(BytesTo(r, i));
  if (const FactorCodec* const factors = codec_->factors())
    return StartFactorSum(replicas(), *factors, PartsOf(i), Elements(behind), context, NameOf(i),
                          lane());
  return StartCodedSum(replicas(), *codec_, PartsOf(i), Elements(behind), context, NameOf(i),
                       lane());
}

uint64_t CodedBucketSums::PlainBytesTo(int replica, int i) const {
  const Tensor& flat = buckets().bucket(i);
  return SizeOf(flat.dtype()) * static_cast<uint64_t>(DirectElementsSentTo(
                                    replicas().size(), replicas().rank(), replica, flat.numel()));
}

uint64_t CodedBucketSums::BytesTo(int replica, int i) const {
  if (buckets().bucket(i).dtype() != DType::kF32) return PlainBytesTo(replica, i);
  std::vector<Shape> shapes;
  for (const NamedVariable& p : buckets().parameters(i)) shapes.push_back(p.value.shape());
  const FactorCodec* const factors = codec_->factors();
  if (factors == nullptr) return CodedSumBytes(*codec_, shapes, shapes.size());
  const FactorSumSizes sizes = SizesOfFactorSum(*factors, shapes, shapes.size());
  const auto sent = [&](int64_t count) {
    return DirectElementsSentTo(replicas().size(), replicas().rank(), replica, count);
  };
  return sizeof(float) * static_cast<uint64_t>(sent(sizes.first) + sent(sizes.second));
}

uint64_t CodedBucketSums::BytesTo(int replica) const {
  uint64_t bytes = 0;
  for (int i = 0; i < buckets().size(); ++i) bytes += BytesTo(replica, i);
  return bytes;
}

void CodedBucketSums::EndStep(bool taken) {
  for (auto& [name, memory] : memories_) memory.Settle(taken);
}

}  // namespace torus::parallel
