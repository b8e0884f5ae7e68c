#include "models/nn/module.h"

#include "runtime/error.h"

namespace torus::nn {

std::string Join(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

void Module::EndMiniBatch() {
  OnEndMiniBatch();
  for (const Child& child : children_) child.module->EndMiniBatch();
}

std::vector<NamedVariable> Module::Parameters(const std::string& prefix) const {
  std::vector<NamedVariable> all;
  for (const auto& [variable, initializer] : parameters_)
    all.push_back({Join(prefix, variable.name), variable.value});
  for (const Child& child : children_) {
    std::vector<NamedVariable> below = child.module->Parameters(Join(prefix, child.name));
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::vector<NamedTensor> Module::Buffers(const std::string& prefix) const {
  std::vector<NamedTensor> all;
  for (const NamedTensor& buffer : buffers_)
    all.push_back({Join(prefix, buffer.name), buffer.value});
  for (const Child& child : children_) {
    std::vector<NamedTensor> below = child.module->Buffers(Join(prefix, child.name));
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

void Module::Initialize(uint64_t seed, const std::string& prefix) {
  for (Parameter& parameter : parameters_) {
    const std::string name = Join(prefix, parameter.variable.name);
    parameter.initializer(parameter.variable.value.mutable_data(),
                          RandomStream({.seed = seed, .layer = HashName(name.c_str())}));
  }
  for (const Child& child : children_) child.module->Initialize(seed, Join(prefix, child.name));
}

Variable Module::AddParameter(std::string name, const Shape& shape, DType dtype,
                              Initializer initializer) {
  Variable variable(Zeros(shape, dtype), true);
  parameters_.push_back({{std::move(name), variable}, std::move(initializer)});
  return variable;
}

Tensor Module::AddBuffer(std::string name, Tensor value) {
  buffers_.push_back({std::move(name), value});
  return value;
}

}  // namespace torus::nn
