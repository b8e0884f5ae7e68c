// Optimizer state under checkpoint names: PARAMETER.KIND.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// State of one kind ("momentum_buffer").
struct StateKind {
  std::string name;             // of the kind
  std::vector<Tensor> tensors;  // one for each parameter; undefined before its first step
  bool counter = false;         // an f32 scalar for any parameter
};

// All defined tensors, parameter by parameter. They share memory with `kinds`.
std::vector<NamedTensor> NamedState(const std::vector<NamedVariable>& parameters,
                                    const std::vector<StateKind>& kinds);

// Their bytes, counted without making names.
uint64_t BytesOf(const std::vector<StateKind>& kinds);

// Replaces the tensors of `kinds` by copies of `state`; what is absent becomes undefined. Throws
// BadInput tagged `optimizer`, before anything changes, for an unknown or repeated name, or if
// shape and dtype are not those of the parameter (or of a counter).
void LoadNamedState(const std::string& optimizer, const std::vector<NamedVariable>& parameters,
                    const std::vector<NamedTensor>& state, std::vector<StateKind>& kinds);

}  // namespace torus::parallel
