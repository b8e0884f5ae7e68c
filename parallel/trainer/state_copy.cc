#include "parallel/trainer/state_copy.h"

#include <fmt/ranges.h>

#include <map>
#include <string>

#include "parallel/trainer/parameter_table.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

// Where a saved tensor goes: one place a replica.
using Places = std::map<std::string, std::vector<Tensor>>;

std::vector<std::string> Missing(const Places& places, const Places& given) {
  std::vector<std::string> names;
  for (const auto& [name, tensors] : places)
    if (!given.contains(name)) names.push_back(name);
  return names;
}

void CheckNames(const char* what, const Places& wanted, const Places& given) {
  const std::vector<std::string> missing = Missing(wanted, given), surplus = Missing(given, wanted);
  if (missing.empty() && surplus.empty()) return;
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  };
  Throw<BadInput>(what, "names must be those of the model; missing: {}; unknown: {}", list(missing),
                  list(surplus));
}

void CheckTensors(const char* what, const Places& wanted, const Places& given) {
  for (const auto& [name, places] : wanted) {
    const Tensor &want = places.front(), &got = given.at(name).front();
    Require(want.shape() == got.shape() && want.dtype() == got.dtype(), what,
            "{} must be {}, got {}", name, want, got);
  }
}

void CopyAll(const char* what, const std::vector<NamedTensor>& tensors, Places places) {
  Places given;
  for (const NamedTensor& tensor : tensors) given[tensor.name].push_back(tensor.value);
  CheckNames(what, places, given);
  CheckTensors(what, places, given);
  for (auto& [name, targets] : places)
    for (Tensor& target : targets) Copy(given.at(name).front(), target);
}

// State is named PARAMETER.KIND.
std::string ParameterOf(const std::string& name) { return name.substr(0, name.rfind('.')); }

bool Has(const Stage& stage, const std::string& parameter) {
  for (const NamedVariable& own : stage.Parameters())
    if (own.name == parameter) return true;
  return false;
}

}  // namespace

void AppendParameters(const StageState& state, const Owns& owns, std::vector<NamedTensor>& out) {
  for (const NamedVariable& parameter : UniqueParameters(*state.stage))
    if (owns(parameter.name)) out.push_back({parameter.name, parameter.value.data().Clone()});
}

void AppendBuffers(const StageState& state, std::vector<NamedTensor>& out) {
  for (const NamedTensor& buffer : state.stage->Buffers())
    out.push_back({buffer.name, buffer.value.Clone()});
}

void AppendOptimizer(const StageState& state, const Owns& owns, std::vector<NamedTensor>& out) {
  for (const NamedTensor& tensor : state.optimizer->State())
    if (owns(ParameterOf(tensor.name))) out.push_back({tensor.name, tensor.value.Clone()});
}

void AppendAverages(const StageState& state, const Owns& owns, std::vector<NamedTensor>& out) {
  if (state.average == nullptr) return;
  for (const NamedTensor& tensor : state.average->State())
    if (owns(tensor.name)) out.push_back({tensor.name, tensor.value.Clone()});
}

void CopyWeights(const std::vector<NamedTensor>& weights, const std::vector<StageState>& stages) {
  Places places;
  for (const StageState& state : stages) {
    for (NamedVariable parameter : state.stage->Parameters())
      places[parameter.name].push_back(parameter.value.mutable_data());
    for (const NamedTensor& buffer : state.stage->Buffers())
      places[buffer.name].push_back(buffer.value);
  }
  CopyAll("weights", weights, std::move(places));
}

void CopyOptimizer(const std::vector<NamedTensor>& tensors, const std::vector<StageState>& stages) {
  std::vector<std::vector<NamedTensor>> parts(stages.size());
  for (const NamedTensor& tensor : tensors) {
    bool known = false;
    for (size_t i = 0; i < stages.size(); ++i) {
      if (!Has(*stages[i].stage, ParameterOf(tensor.name))) continue;
      parts[i].push_back(tensor);
      known = true;
    }
    Require(known, "optimizer state", "{} belongs to no parameter of the model", tensor.name);
  }
  for (size_t i = 0; i < stages.size(); ++i) stages[i].optimizer->LoadState(parts[i]);
}

void CopyAverages(const std::vector<NamedTensor>& averages, const std::vector<StageState>& stages) {
  for (const StageState& state : stages)
    if (state.average != nullptr) state.average->LoadState(averages);
}

}  // namespace torus::parallel
