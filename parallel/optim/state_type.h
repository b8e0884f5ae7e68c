// StateType: the types in which an optimizer may keep its state.
#pragma once

#include <cstdint>

namespace torus::parallel {

enum class StateType : uint8_t {
  kF32,   // as the parameter: f64 for one in f64
  kBF16,  // half of it
  // A quarter: block-wise dynamic quantization (Dettmers et al. 2022, "8-bit optimizers via
  // block-wise quantization"; narrow_state.h).
  k8Bit,
};

}  // namespace torus::parallel
