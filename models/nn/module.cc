#include "models/nn/module.h"

#include <set>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::nn {
namespace {

void GiveMemory(Variable& variable, Device device) {
  if (variable.data().device() != kMetaDevice) return;
  variable.SetData(Empty(variable.shape(), variable.dtype(), device));
}

}  // namespace

std::string Join(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

void Module::EndMiniBatch(bool taken) {
  OnEndMiniBatch(taken);
  for (const Child& child : children_) child.module->EndMiniBatch(taken);
}

void Module::Share(const ShareStatistics& share) {
  OnShare(share);
  for (const Child& child : children_) child.module->Share(share);
}

void Module::Split(const TensorPlace& place) {
  TORUS_CHECK(place_.size == 1, "a module is split once");
  if (place.size == 1) return;
  OnSplit(place);
  place_ = place;
  for (Parameter& parameter : parameters_) {
    if (!parameter.split) continue;
    Tensor& data = parameter.variable.value.mutable_data();
    data = SliceOf(data, *parameter.split, place);
  }
  for (const Child& child : children_) child.module->Split(place);
}

std::vector<NamedSplit> Module::Splits(const std::string& prefix) const {
  std::vector<NamedSplit> all;
  for (const Parameter& p : parameters_)
    if (p.split) all.push_back({Join(prefix, p.variable.name), *p.split});
  for (const Child& child : children_) {
    const std::vector<NamedSplit> below = child.module->Splits(Join(prefix, child.name));
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::vector<Variable> Module::ForwardAll(const std::vector<Variable>& inputs,
                                         const StepContext& ctx) {
  TORUS_CHECK(!inputs.empty());
  std::vector<Variable> outputs = inputs;
  outputs[0] = Forward(inputs[0], ctx);
  return outputs;
}

void Module::AppendParameters(const std::string& prefix, std::vector<NamedVariable>& all) const {
  for (const Parameter& p : parameters_)
    all.push_back({p.owner.empty() ? Join(prefix, p.variable.name) : p.owner, p.variable.value});
  for (const Child& child : children_)
    child.module->AppendParameters(Join(prefix, child.name), all);
}

std::vector<NamedVariable> Module::Parameters(const std::string& prefix) const {
  std::vector<NamedVariable> all;
  AppendParameters(prefix, all);
  std::set<const void*> seen;
  std::erase_if(all, [&](const NamedVariable& p) { return !seen.insert(p.value.id()).second; });
  return all;
}

std::vector<Alias> Module::Aliases(const std::string& prefix) const {
  std::vector<Alias> all;
  for (const Parameter& p : parameters_)
    if (!p.owner.empty()) all.push_back({Join(prefix, p.variable.name), p.owner});
  for (const Child& child : children_) {
    const std::vector<Alias> below = child.module->Aliases(Join(prefix, child.name));
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::vector<NamedTensor> Module::Buffers(const std::string& prefix) const {
  std::vector<NamedTensor> all;
  for (const Parameter& buffer : buffers_)
    all.push_back({Join(prefix, buffer.variable.name), buffer.variable.value.data()});
  for (const Child& child : children_) {
    std::vector<NamedTensor> below = child.module->Buffers(Join(prefix, child.name));
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::vector<Module::Parameter*> Module::OwnState() {
  std::vector<Parameter*> state;
  for (Parameter& parameter : parameters_)
    if (parameter.owner.empty()) state.push_back(&parameter);
  for (Parameter& buffer : buffers_) state.push_back(&buffer);
  return state;
}

void Module::CheckNewName(const std::string& name) const {
  for (const auto* list : {&parameters_, &buffers_})
    for (const Parameter& own : *list)
      Require(own.variable.name != name, "module", "has two parameters or buffers named {}", name);
}

void Module::CheckNewChild(const std::string& title) const {
  for (const Child& child : children_)
    Require(child.title != title, "module", "has two children named {}", title);
}

void Module::CheckNames(const std::string& prefix) const {
  std::set<std::string> seen;
  const auto check = [&](const std::string& name) {
    Require(seen.insert(name).second, "module", "has two parameters or buffers named {}", name);
  };
  for (const NamedVariable& parameter : Parameters(prefix)) check(parameter.name);
  for (const NamedTensor& buffer : Buffers(prefix)) check(buffer.name);
}

void Module::CheckDropouts(const std::string& prefix, Dropouts& found) const {
  if (const std::optional<uint64_t> number = DropoutNumber()) {
    const auto& [module, name] = found.try_emplace(*number, this, prefix).first->second;
    Require(module == this, "dropout",
            "{} and {} both have the number {} and would drop the same elements: number the "
            "dropout layers of a model differently",
            name, prefix, *number);
  }
  for (const Child& child : children_) child.module->CheckDropouts(Join(prefix, child.name), found);
}

void Module::RequireValues(const char* layer, const Variable& x) const {
  if (!x.defined() || x.data().device() == kMetaDevice) return;
  for (const auto* list : {&parameters_, &buffers_})
    for (const Parameter& own : *list)
      Require(own.variable.value.data().device() != kMetaDevice, layer,
              "input is on {}, {} on meta, without values: the model was not initialized "
              "(Initialize, LoadModel), or the layer was not given to AddChild",
              x.data().device(), own.variable.name);
}

void Module::Initialize(uint64_t seed, const std::string& prefix, Device device) {
  CheckNames(prefix);
  Dropouts dropouts;
  CheckDropouts(prefix, dropouts);
  for (Parameter* own : OwnState()) {
    const std::string name = Join(prefix, own->variable.name);
    GiveMemory(own->variable.value, device);
    own->initializer(own->variable.value.mutable_data(),
                     RandomStream({.seed = seed, .layer = HashName(name.c_str())}));
  }
  for (const Child& child : children_)
    child.module->Initialize(seed, Join(prefix, child.name), device);
}

void Module::Allocate(Device device) {
  for (Parameter* own : OwnState()) GiveMemory(own->variable.value, device);
  for (const Child& child : children_) child.module->Allocate(device);
}

void Module::MoveTo(Device device) {
  for (Parameter* own : OwnState())
    if (const Tensor& data = own->variable.value.data(); data.device() != kMetaDevice)
      MoveMemory(data, device);
  for (const Child& child : children_) child.module->MoveTo(device);
}

Device Module::device() const {
  const std::vector<NamedVariable> parameters = Parameters();
  return parameters.empty() ? Device{} : parameters.front().value.data().device();
}

Variable Module::AddParameter(std::string name, const Shape& shape, DType dtype,
                              Initializer initializer) {
  return AddParameter(std::move(name), shape, dtype, std::move(initializer), std::nullopt);
}

Variable Module::AddParameter(std::string name, const Shape& shape, DType dtype,
                              Initializer initializer, std::optional<TensorSplit> split) {
  CheckNewName(name);
  Require(initializer != nullptr, "module", "parameter {} needs an initializer", name);
  Variable variable(Empty(shape, dtype, kMetaDevice), true);
  parameters_.push_back({{std::move(name), variable}, std::move(initializer), {}, split});
  return variable;
}

void Module::TieParameter(std::string name, std::string owner, const Variable& value) {
  CheckNewName(name);
  parameters_.push_back({{std::move(name), value}, {}, std::move(owner)});
}

Variable Module::AddBuffer(std::string name, const Shape& shape, DType dtype,
                           Initializer initializer) {
  CheckNewName(name);
  Require(initializer != nullptr, "module", "buffer {} needs an initializer", name);
  Variable variable(Empty(shape, dtype, kMetaDevice));
  buffers_.push_back({{std::move(name), variable}, std::move(initializer), {}});
  return variable;
}

}  // namespace torus::nn
