#include "parallel/data_parallel/fully_sharded.h"

#include <set>
#include <utility>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

// Alignment of each parameter, in bytes.
constexpr size_t kAlign = 64;

size_t Aligned(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

size_t BytesOfAll(const std::vector<NamedVariable>& uses) {
  std::set<std::string> seen;
  size_t bytes = 0;
  for (const NamedVariable& use : uses)
    if (seen.insert(use.name).second) bytes += Aligned(use.value.data().bytes());
  return bytes;
}

}  // namespace

// A replica that holds all of a parameter also keeps it separate from the gathered one.
FullySharded::FullySharded(Communicator& replicas, std::vector<NamedVariable> all,
                           const ShardPlan& plan, RankShards& shards)
    : Sharded(replicas, std::move(all), plan),
      shards_(shards),
      memory_(std::make_shared<ReleasableMemory>(BytesOfAll(uses()))) {
  for (size_t i = 0; i < uses().size(); ++i)
    if (OwnRange(i).size() == uses()[i].value.numel())
      held_[i].value = Variable(uses()[i].value.data(), uses()[i].value.requires_grad());
}

void FullySharded::BroadcastWeights(const std::string& what) {
  Sharded::BroadcastWeights(what);
  for (NamedVariable& held : held_) {
    if (!held.value.defined()) continue;
    const auto [shard, is_new] = shards_.try_emplace(held.name);
    if (is_new) {
      shard->second = held.value.data().Clone();
      first_.insert(held.name);
    }
    held.value.SetData(shard->second);
  }
  MoveWeights();
}

// Moves the whole weights to the releasable memory.
void FullySharded::MoveWeights() {
  const auto storage =
      std::make_shared<Storage>(memory_->data(), memory_->bytes(), Device{}, memory_);
  std::map<std::string, Tensor> moved;
  size_t at = 0;
  for (NamedVariable& use : uses()) {
    const auto [whole, is_new] = moved.try_emplace(use.name);
    if (is_new) {
      const Tensor& old = use.value.data();
      whole->second = Tensor(storage, old.shape(), ContiguousStrides(old.shape()),
                             static_cast<int64_t>(at / SizeOf(old.dtype())), old.dtype());
      at += Aligned(old.bytes());
    }
    use.value.SetData(whole->second);
  }
}

void FullySharded::GatherWeights(const std::string& what) {
  memory_->Take();
  GatherHeld(what);
  if (std::exchange(changed_, false)) BumpVersions();
}

void FullySharded::FreeWeights() { memory_->Release(); }

void FullySharded::SetWeights(const WeightReader& read) {
  for (size_t i = 0; i < held_.size(); ++i)
    if (held_[i].value.defined())
      Copy(SliceOf(read(held_[i].name).Contiguous(), OwnRange(i)), held_[i].value.mutable_data());
  changed_ = true;
}

std::vector<NamedTensor> FullySharded::Weights(const std::string& what) {
  std::vector<NamedTensor> own;
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const NamedVariable& held : held_) {
    if (!seen.insert(held.name).second) continue;
    names.push_back(held.name);
    if (held.value.defined()) own.push_back({held.name, held.value.data()});
  }
  return Whole(std::move(own), names, what);
}

uint64_t FullySharded::WeightBytes() const {
  uint64_t bytes = 0;
  for (const std::string& name : first_) bytes += shards_.at(name).bytes();
  return bytes;
}

}  // namespace torus::parallel
