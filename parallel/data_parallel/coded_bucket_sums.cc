#include "parallel/data_parallel/coded_bucket_sums.h"

#include <span>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus::parallel {
namespace {

template <class T>
std::span<T> Elements(Tensor& tensor) {
  return {tensor.mutable_data<T>(), static_cast<size_t>(tensor.numel())};
}

}  // namespace

void CodedBucketSums::Start(int i) {
  buckets().Fill(i);
  Tensor& flat = buckets().bucket(i);
  if (flat.dtype() == DType::kF32) return StartCoded(i);
  running_ = StartDirectAllReduce(replicas_, Elements<double>(flat), NameOf(i), lane_);
}

// Two uses of a tied parameter have one name.
void CodedBucketSums::StartCoded(int i) {
  std::vector<CodedPart> parts;
  const std::vector<NamedVariable>& parameters = buckets().parameters(i);
  for (size_t p = 0; p < parameters.size(); ++p) {
    Tensor part = buckets().Part(i, p);
    const std::string key = fmt::format("{} {}.{}", parameters[p].name, i, p);
    CodecMemory* const memory = codec_->remembers() ? &memories_[key] : nullptr;
    parts.push_back({Elements<float>(part), part.shape(), memory});
  }
  Tensor behind = buckets().Behind(i);
  const CodecContext context{
      .step = sums_++, .seed = seed_, .stream = HashName(parameters.front().name.c_str())};
  running_ = StartCodedSum(replicas_, *codec_, std::move(parts), Elements<float>(behind), context,
                           NameOf(i), lane_);
}

void CodedBucketSums::Take(int i) {
  running_.reset();
  buckets().Unfill(i);
}

bool CodedBucketSums::Run(int i) {
  if (!running_) Start(i);
  if (!running_->Advance()) return false;
  Take(i);
  return true;
}

void CodedBucketSums::RunToEnd(int i) {
  if (!running_) Start(i);
  running_->Finish();
  Take(i);
}

}  // namespace torus::parallel
