#include "parallel/trainer/state_copy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

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

// State is named PARAMETER.KIND.
std::string ParameterOf(const std::string& name) { return name.substr(0, name.rfind('.')); }

bool Has(const Stage& stage, const std::string& parameter) {
  return std::ranges::any_of(stage.Parameters(),
                             [&](const NamedVariable& own) { return own.name == parameter; });
}

void AddOwned(const std::vector<NamedTensor>& tensors, const Owns& owns,
              std::string (*parameter_of)(const std::string&), std::vector<NamedTensor>& out) {
  for (const NamedTensor& tensor : tensors)
    if (owns(parameter_of(tensor.name))) out.push_back(tensor);
}

void Append(const std::vector<NamedTensor>& tensors, std::vector<NamedTensor>& out) {
  out.insert(out.end(), tensors.begin(), tensors.end());
}

}  // namespace

StageTensors TensorsOf(const StageState& state, const Owns& owns) {
  StageTensors tensors{.buffers = state.stage->Buffers()};
  for (const NamedVariable& parameter : UniqueParameters(*state.stage))
    if (owns(parameter.name))
      tensors.parameters.push_back({parameter.name, parameter.value.data()});
  AddOwned(state.optimizer->State(), owns, ParameterOf, tensors.optimizer);
  const auto same = [](const std::string& name) { return name; };
  if (state.average != nullptr) AddOwned(state.average->State(), owns, same, tensors.averages);
  return tensors;
}

StageTensors Copied(StageTensors stage) {
  for (auto* list : {&stage.parameters, &stage.buffers, &stage.optimizer, &stage.averages})
    for (NamedTensor& tensor : *list) tensor.value = tensor.value.Clone();
  return stage;
}

TrainState Join(int64_t step, const std::map<int, StageTensors>& stages) {
  TrainState state{.step = step};
  for (const auto& [number, stage] : stages) {
    Append(stage.parameters, state.weights);
    Append(stage.optimizer, state.optimizer);
    Append(stage.averages, state.averages);
  }
  for (const auto& [number, stage] : stages) Append(stage.buffers, state.weights);
  return state;
}

void CopyWeights(const std::vector<NamedTensor>& weights, const std::vector<WeightSpec>& model,
                 const std::vector<StageState>& stages) {
  std::map<std::string, Tensor> given;
  for (const NamedTensor& tensor : weights) given.emplace(tensor.name, tensor.value);
  Names names, wanted;
  for (const auto& [name, value] : given) names.insert(name);
  for (const WeightSpec& weight : model) wanted.insert(weight.name);
  CheckNames(wanted, names);
  for (const auto& [name, spec, trained] : model) {
    const Tensor& got = given.at(name);
    Require(spec.shape == got.shape() && spec.dtype == got.dtype(), "weights",
            "{} must be {} {}, got {}", name, Name(spec.dtype), spec.shape, got);
  }
  for (const StageState& state : stages) {
    for (NamedVariable parameter : state.stage->Parameters())
      Copy(given.at(parameter.name), parameter.value.mutable_data());
    for (NamedTensor buffer : state.stage->Buffers()) Copy(given.at(buffer.name), buffer.value);
  }
}

void CopyOptimizer(const std::vector<NamedTensor>& tensors, const std::vector<WeightSpec>& model,
                   const std::vector<StageState>& stages) {
  Names parameters;
  for (const WeightSpec& weight : model)
    if (weight.trained) parameters.insert(weight.name);
  for (const NamedTensor& tensor : tensors)
    Require(parameters.contains(ParameterOf(tensor.name)), "optimizer state",
            "{} belongs to no parameter of the model", tensor.name);
  for (const StageState& state : stages) {
    std::vector<NamedTensor> part;
    for (const NamedTensor& tensor : tensors)
      if (Has(*state.stage, ParameterOf(tensor.name))) part.push_back(tensor);
    state.optimizer->LoadState(part);
  }
}

void CopyAverages(const std::vector<NamedTensor>& averages, const std::vector<StageState>& stages) {
  for (const StageState& state : stages)
    if (state.average != nullptr) state.average->LoadState(averages);
}

}  // namespace torus::parallel
