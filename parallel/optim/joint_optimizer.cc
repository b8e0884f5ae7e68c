#include "parallel/optim/joint_optimizer.h"

#include "parallel/optim/optimizer_state.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

std::vector<NamedVariable> ParametersOf(const std::vector<std::unique_ptr<Optimizer>>& parts) {
  std::vector<NamedVariable> all;
  for (const auto& part : parts)
    all.insert(all.end(), part->parameters().begin(), part->parameters().end());
  return all;
}

}  // namespace

JointOptimizer::JointOptimizer(std::vector<std::unique_ptr<Optimizer>> parts)
    : Optimizer("joint_optimizer", ParametersOf(parts)), parts_(std::move(parts)) {
  for (size_t i = 0; i < parts_.size(); ++i)
    for (const NamedVariable& parameter : parts_[i]->parameters()) part_of_[parameter.name] = i;
}

void JointOptimizer::Step(double learning_rate, double gradient_scale) {
  Gradients();  // refuses one that does not fit before any part has changed
  for (const auto& part : parts_) part->Step(learning_rate, gradient_scale);
}

std::vector<NamedTensor> JointOptimizer::State() const {
  std::vector<NamedTensor> all;
  for (const auto& part : parts_)
    for (const NamedTensor& tensor : part->State()) all.push_back(tensor);
  return all;
}

uint64_t JointOptimizer::StateBytes() const {
  uint64_t bytes = 0;
  for (const auto& part : parts_) bytes += part->StateBytes();
  return bytes;
}

void JointOptimizer::LoadState(const std::vector<NamedTensor>& state) {
  std::vector<std::vector<NamedTensor>> of(parts_.size()), before;
  for (const NamedTensor& tensor : state) {
    const auto part = part_of_.find(ParameterOf(tensor.name));
    Require(part != part_of_.end(), "joint_optimizer", "state {} belongs to no parameter of it",
            tensor.name);
    of[part->second].push_back(tensor);
  }
  for (const auto& part : parts_) before.push_back(part->State());
  try {
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i]->LoadState(of[i]);
  } catch (...) {
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i]->LoadState(before[i]);
    throw;
  }
}

}  // namespace torus::parallel
