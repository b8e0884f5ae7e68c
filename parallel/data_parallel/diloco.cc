#include "parallel/data_parallel/diloco.h"

#include <string_view>
#include <utility>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

// a - b, in memory of its own.
Tensor Minus(const Tensor& a, const Tensor& b) {
  Tensor difference = b.Clone();
  ScaleInPlace(difference, -1);
  AddInPlace(difference, a);
  return difference;
}

// factor x a + b, in memory of its own.
Tensor ScaledPlus(double factor, const Tensor& a, const Tensor& b) {
  Tensor sum = a.Clone();
  ScaleInPlace(sum, factor);
  AddInPlace(sum, b);
  return sum;
}

// Before what is remembered of a parameter's differences: ddp remembers gradients, which are of
// another size, by the same keys without it.
constexpr std::string_view kOfDifferences = "difference ";

uint64_t BytesOf(const std::vector<Tensor>& tensors) {
  uint64_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += tensor.bytes();
  return bytes;
}

}  // namespace

Diloco::Diloco(Communicator& replicas, std::vector<NamedVariable> uses, const RoundOptions& round,
               const DataParallelOptions& options)
    : LocalSgd(replicas, std::move(uses), round.steps, options), options_(round) {
  if (options.codec) coded_ = std::make_unique<DataParallel>(replicas, summed(), options);
  Begin();
}

void Diloco::Begin() {
  start_ = CopyWeights();
  velocity_.clear();
  for (const Tensor& start : start_)
    velocity_.push_back(Zeros(start.shape(), start.dtype(), start.device()));
}

void Diloco::BroadcastWeights(const std::string& what) {
  LocalSgd::BroadcastWeights(what);
  Begin();
}

void Diloco::SetWeights(const WeightReader& read) {
  LocalSgd::SetWeights(read);
  Begin();
}

void Diloco::BeginStep(int64_t step, double) { step_ = step; }

// Of the mean. Only gradients have the loss scale.
std::vector<Tensor> Diloco::Differences(const std::string& what) {
  std::vector<Tensor> own = CopyWeights();
  for (size_t i = 0; i < own.size(); ++i) own[i] = Minus(start_[i], own[i]);
  coded_->BeginStep(step_, 1);
  std::vector<Tensor> differences = Mean(*coded_, own, "differences, " + what);
  coded_->EndStep(true);
  return differences;
}

void Diloco::ReplaceByMean(const std::string& what) {
  const std::vector<Tensor> summed = coded_ ? Differences(what) : MeanWeights(what);
  for (size_t i = 0; i < start_.size(); ++i) {
    const Tensor other = Minus(start_[i], summed[i]);
    coded_ ? TakeOuterStep(i, other, summed[i]) : TakeOuterStep(i, summed[i], other);
  }
  ReplaceWeights(start_);
}

void Diloco::TakeOuterStep(size_t i, const Tensor& mean, const Tensor& difference) {
  velocity_[i] = ScaledPlus(options_.outer_momentum, velocity_[i], difference);
  Tensor move = ScaledPlus(options_.outer_momentum, velocity_[i], difference);
  ScaleInPlace(move, options_.outer_rate);
  start_[i] = Minus(mean, Minus(move, difference));
}

std::vector<NamedTensor> Diloco::Named(const std::vector<Tensor>& tensors) const {
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < tensors.size(); ++i) named.push_back({parameters()[i].name, tensors[i]});
  return named;
}

ReplicaStrategy::Round Diloco::round() const {
  return {.place = LocalSgd::round().place, .start = Named(start_), .velocity = Named(velocity_)};
}

// What is not given stays as SetWeights has begun it.
void Diloco::SetRound(const Round& round) {
  LocalSgd::SetRound(round);
  for (const auto& [given, tensors] :
       {std::pair(&round.start, &start_), std::pair(&round.velocity, &velocity_)})
    for (const NamedTensor& one : *given)
      for (size_t i = 0; i < parameters().size(); ++i)
        if (parameters()[i].name == one.name) Copy(one.value, (*tensors)[i]);
}

uint64_t Diloco::WeightBytes() const {
  return LocalSgd::WeightBytes() + BytesOf(start_) + BytesOf(velocity_);
}

std::map<std::string, CodecMemory> Diloco::codec_memories() const {
  std::map<std::string, CodecMemory> memories;
  if (!coded_) return memories;
  for (auto& [key, memory] : coded_->codec_memories())
    memories[std::string(kOfDifferences) + key] = memory;
  return memories;
}

void Diloco::SetCodecMemories(std::map<std::string, CodecMemory> memories) {
  if (!coded_) return;
  std::map<std::string, CodecMemory> differences;
  for (auto& [key, memory] : memories)
    if (key.starts_with(kOfDifferences))
      differences[key.substr(kOfDifferences.size())] = std::move(memory);
  coded_->SetCodecMemories(std::move(differences));
}

std::vector<int64_t> Diloco::SavedBytes() const {
  return coded_ ? coded_->SavedBytes() : LocalSgd::SavedBytes();
}

}  // namespace torus::parallel
