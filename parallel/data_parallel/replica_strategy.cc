#include "parallel/data_parallel/replica_strategy.h"

#include <set>
#include <utility>

#include "parallel/optim/gradient_norm.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {

ReplicaStrategy::ReplicaStrategy(Communicator& replicas, std::vector<NamedVariable> uses)
    : held_(uses), replicas_(replicas), uses_(std::move(uses)) {
  std::set<std::string> seen;
  for (size_t i = 0; i < uses_.size(); ++i)
    if (seen.insert(uses_[i].name).second) first_uses_.push_back(i);
}

void ReplicaStrategy::BroadcastWeights(const std::string& what) {
  std::vector<NamedTensor> weights;
  for (const NamedVariable& use : uses_) weights.push_back({use.name, use.value.data()});
  replicas_.Broadcast(weights, what);
}

std::vector<double> ReplicaStrategy::SquaredNorms(const std::string&) {
  return SquaredGradientNorms(uses_);
}

void ReplicaStrategy::BeginLastBackward(const std::string&) {}

void ReplicaStrategy::Advance() {}

void ReplicaStrategy::PublishWeights(const std::string&) {}

void ReplicaStrategy::GatherWeights(const std::string&) {}

void ReplicaStrategy::FreeWeights() {}

uint64_t ReplicaStrategy::GatheredBytes() const { return 0; }

uint64_t ReplicaStrategy::GradientBytes() const {
  uint64_t bytes = 0;
  std::set<const void*> seen;
  for (const auto* list : {&uses_, &held_})
    for (const auto& [name, value] : *list)
      if (value.grad().defined() && seen.insert(value.id()).second) bytes += value.grad().bytes();
  return bytes;
}

void ReplicaStrategy::SetWeights(const WeightReader& read) {
  for (NamedVariable& use : uses_) Copy(read(use.name), use.value.mutable_data());
}

std::vector<NamedTensor> ReplicaStrategy::Weights(const std::string&) {
  std::vector<NamedTensor> weights;
  for (const NamedVariable& use : uses_) weights.push_back({use.name, use.value.data()});
  return weights;
}

std::vector<NamedTensor> ReplicaStrategy::Whole(std::vector<NamedTensor> own,
                                                const std::vector<std::string>&,
                                                const std::string&) {
  return own;
}

std::vector<NamedTensor> ReplicaStrategy::OwnPart(std::vector<NamedTensor> whole) const {
  return whole;
}

uint64_t ReplicaStrategy::WeightBytes() const {
  uint64_t bytes = 0;
  for (const size_t i : first_uses_) bytes += uses_[i].value.data().bytes();
  return bytes;
}

}  // namespace torus::parallel
