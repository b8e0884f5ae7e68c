#include "parallel/optim/optimizer_state.h"

#include <map>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

std::string StateName(const NamedVariable& parameter, const StateKind& kind) {
  return parameter.name + "." + kind.name;
}

void CheckFits(const std::string& optimizer, const NamedTensor& state, const Variable& parameter,
               bool counter) {
  const Tensor& got = state.value;
  const Shape shape = counter ? Shape{} : parameter.shape();
  const DType dtype = counter ? DType::kF32 : parameter.dtype();
  const bool rounded =
      !counter && dtype == DType::kF32 && got.defined() && got.dtype() == DType::kBF16;
  Require(got.defined() && got.shape() == shape && (got.dtype() == dtype || rounded), optimizer,
          "state {} must be {} {}, got {}", state.name, Name(dtype), shape, got);
}

}  // namespace

StateTensor StateKind::Of(size_t parameter) const {
  return {tensors[parameter], scales.empty() ? Tensor() : scales[parameter]};
}

void StateKind::Set(size_t parameter, StateTensor state) {
  tensors[parameter] = std::move(state.values);
  if (!scales.empty()) scales[parameter] = std::move(state.scales);
}

std::string ParameterOf(const std::string& state) { return state.substr(0, state.rfind('.')); }

std::vector<NamedTensor> NamedState(const std::vector<NamedVariable>& parameters,
                                    const std::vector<StateKind>& kinds) {
  std::vector<NamedTensor> state;
  for (size_t i = 0; i < parameters.size(); ++i)
    for (const StateKind& kind : kinds)
      if (kind.tensors[i].defined())
        state.push_back({StateName(parameters[i], kind), Unpacked(kind.Of(i), kind.with_sign)});
  return state;
}

uint64_t BytesOf(const std::vector<StateKind>& kinds) {
  uint64_t bytes = 0;
  for (const StateKind& kind : kinds)
    for (const auto* tensors : {&kind.tensors, &kind.scales})
      for (const Tensor& tensor : *tensors)
        if (tensor.defined()) bytes += tensor.bytes();
  return bytes;
}

void LoadNamedState(const std::string& optimizer, const std::vector<NamedVariable>& parameters,
                    const std::vector<NamedTensor>& state, std::vector<StateKind>& kinds) {
  std::map<std::string, const NamedTensor*> by_name;
  for (const NamedTensor& tensor : state)
    Require(by_name.emplace(tensor.name, &tensor).second, optimizer, "state {} comes twice",
            tensor.name);
  std::vector<StateKind> loaded;
  for (const StateKind& kind : kinds) {
    StateKind& of_kind = loaded.emplace_back(kind);
    for (size_t i = 0; i < parameters.size(); ++i) of_kind.Set(i, {});
    for (size_t i = 0; i < parameters.size(); ++i) {
      const auto found = by_name.find(StateName(parameters[i], kind));
      if (found == by_name.end()) continue;
      CheckFits(optimizer, *found->second, parameters[i].value, kind.counter);
      // On the parameter's device; a counter stays on the CPU.
      const StateType type = kind.types.empty() ? StateType::kF32 : kind.types[i];
      const Device device = kind.counter ? Device{} : parameters[i].value.data().device();
      of_kind.Set(i, Packed(found->second->value, type, kind.with_sign, device));
      by_name.erase(found);
    }
  }
  if (!by_name.empty())
    Throw<BadInput>(optimizer, "state {} belongs to no parameter of it", by_name.begin()->first);
  kinds = std::move(loaded);
}

}  // namespace torus::parallel
