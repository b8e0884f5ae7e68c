// Optimizer state under checkpoint names: PARAMETER.KIND.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "parallel/optim/narrow_state.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// State of one kind ("momentum_buffer").
struct StateKind {
  std::string name;             // of the kind
  std::vector<Tensor> tensors;  // one for each parameter; undefined before its first step
  bool counter = false;         // an f32 scalar for any parameter
  // Of what may be kept in less than f32 (narrow_state.h): the type and, of 8 bits, the scales, one
  // for each parameter. Empty: all is as the parameter.
  std::vector<StateType> types = {};
  std::vector<Tensor> scales = {};
  bool with_sign = true;  // whether it has negative values

  // The state of the parameter of this number.
  StateTensor Of(size_t parameter) const;
  // Replaces it.
  void Set(size_t parameter, StateTensor state);
};

// Returns PARAMETER for PARAMETER.KIND.
std::string ParameterOf(const std::string& state);

// All defined tensors, parameter by parameter; those of 8 bits as the f32 that they stand for, so
// that they can be sliced and joined like the parameter. The others share memory with `kinds`.
std::vector<NamedTensor> NamedState(const std::vector<NamedVariable>& parameters,
                                    const std::vector<StateKind>& kinds);

// The bytes that these take in memory, counted without making names.
uint64_t BytesOf(const std::vector<StateKind>& kinds);

// Replaces the tensors of `kinds` by copies of `state` in the types of the kinds; what is absent
// becomes undefined. Throws BadInput tagged `optimizer`, before anything changes, for an unknown or
// repeated name, or if shape and dtype are not those of the parameter (or of a counter); state of
// an f32 parameter may be bf16 too.
void LoadNamedState(const std::string& optimizer, const std::vector<NamedVariable>& parameters,
                    const std::vector<NamedTensor>& state, std::vector<StateKind>& kinds);

}  // namespace torus::parallel
