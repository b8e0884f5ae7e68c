#include "parallel/trainer/state_copy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "parallel/optim/optimizer_state.h"
#include "parallel/trainer/parameter_table.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

using Names = std::set<std::string>;

std::vector<std::string> Missing(const Names& wanted, const Names& given) {
  std::vector<std::string> names;
  std::ranges::set_difference(wanted, given, std::back_inserter(names));
  return names;
}

void CheckNames(const Names& wanted, const Names& given) {
  const std::vector<std::string> missing = Missing(wanted, given), surplus = Missing(given, wanted);
  if (missing.empty() && surplus.empty()) return;
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  };
  Throw<BadInput>("weights", "names must be those of the model; missing: {}; unknown: {}",
                  list(missing), list(surplus));
}

std::string Itself(const std::string& name) { return name; }

// Reads the tensors of the parameters that the rank updates.
std::vector<NamedTensor> ReadOwn(const TensorSource& source, const StageState& state,
                                 std::string (*parameter_of)(const std::string&)) {
  Names own;
  for (const NamedVariable& parameter : state.optimizer->parameters()) own.insert(parameter.name);
  std::vector<NamedTensor> tensors;
  for (const auto& [name, spec] : source.specs)
    if (own.contains(parameter_of(name))) tensors.push_back({name, source.read(name)});
  return state.replicas->OwnPart(std::move(tensors));
}

void AddOwned(const std::vector<NamedTensor>& tensors, const Owns& owns,
              std::string (*parameter_of)(const std::string&), std::vector<NamedTensor>& out) {
  for (const NamedTensor& tensor : tensors)
    if (owns(parameter_of(tensor.name))) out.push_back(tensor);
}

void Append(const std::vector<NamedTensor>& tensors, std::vector<NamedTensor>& out) {
  out.insert(out.end(), tensors.begin(), tensors.end());
}

std::array<std::vector<NamedTensor>*, 6> ListsOf(StageTensors& stage) {
  return {&stage.parameters, &stage.buffers, &stage.optimizer,
          &stage.averages,   &stage.codecs,  &stage.replicas};
}

}  // namespace

StageTensors PartOfOther(StageTensors stage) {
  StageTensors part;
  part.codecs = std::move(stage.codecs);
  part.replicas = std::move(stage.replicas);
  return part;
}

StageTensors TensorsOf(const StageState& state, const Owns& owns, const std::string& what) {
  StageTensors tensors{.buffers = state.stage->Buffers()};
  std::vector<std::string> names;
  for (const NamedVariable& parameter : UniqueParameters(*state.stage))
    names.push_back(parameter.name);
  std::set<std::string> seen;
  for (NamedTensor& weight : state.replicas->Weights(what))
    if (owns(weight.name) && seen.insert(weight.name).second)
      tensors.parameters.push_back(std::move(weight));
  AddOwned(state.replicas->Whole(state.optimizer->State(), state.order, what), owns, ParameterOf,
           tensors.optimizer);
  if (state.average != nullptr)
    AddOwned(state.replicas->Whole(state.average->State(), names, what), owns, Itself,
             tensors.averages);
  for (auto* list : ListsOf(tensors))
    for (NamedTensor& tensor : *list) tensor.value = tensor.value.To(Device{});
  return tensors;
}

StageTensors Copied(StageTensors stage) {
  for (auto* list : ListsOf(stage))
    for (NamedTensor& tensor : *list) tensor.value = tensor.value.Clone();
  return stage;
}

TrainState Join(int64_t step, const std::map<int, StageTensors>& stages) {
  TrainState state{.step = step};
  for (const auto& [number, stage] : stages) {
    Append(stage.parameters, state.weights);
    Append(stage.optimizer, state.optimizer);
    Append(stage.averages, state.averages);
    Append(stage.codecs, state.codecs);
    Append(stage.replicas, state.replicas);
  }
  for (const auto& [number, stage] : stages) Append(stage.buffers, state.weights);
  return state;
}

void CopyWeights(const TensorSource& weights, const std::vector<WeightSpec>& model,
                 const std::vector<StageState>& stages) {
  Names names, wanted;
  for (const auto& [name, spec] : weights.specs) names.insert(name);
  for (const WeightSpec& weight : model) wanted.insert(weight.name);
  CheckNames(wanted, names);
  for (const auto& [name, spec, trained, split, whole] : model) {
    const TensorSpec& got = weights.specs.at(name);
    Require(spec.shape == got.shape && spec.dtype == got.dtype, "weights",
            "{} must be {} {}, got {} {}", name, Name(spec.dtype), whole, Name(got.dtype),
            got.shape);
  }
  for (const StageState& state : stages) {
    state.replicas->SetWeights(weights.read);
    for (NamedTensor buffer : state.stage->Buffers()) Copy(weights.read(buffer.name), buffer.value);
  }
}

void CopyOptimizer(const TensorSource& optimizer, const std::vector<WeightSpec>& model,
                   const std::vector<StageState>& stages) {
  Names parameters;
  for (const WeightSpec& weight : model)
    if (weight.trained) parameters.insert(weight.name);
  for (const auto& [name, spec] : optimizer.specs)
    Require(parameters.contains(ParameterOf(name)), "optimizer state",
            "{} belongs to no parameter of the model", name);
  for (const StageState& state : stages)
    state.optimizer->LoadState(ReadOwn(optimizer, state, ParameterOf));
}

void CopyAverages(const TensorSource& averages, const std::vector<StageState>& stages) {
  for (const StageState& state : stages)
    if (state.average != nullptr) state.average->LoadState(ReadOwn(averages, state, Itself));
}

}  // namespace torus::parallel
