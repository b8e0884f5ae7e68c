#include "parallel/trainer/loss_scale.h"

#include <algorithm>
#include <bit>

#include "runtime/error.h"

namespace torus::parallel {

LossScale::LossScale(int64_t initial, int growth_steps) : growth_steps_(growth_steps) {
  Require(growth_steps >= 1, "loss scale", "must grow after 1 step or more, got {}", growth_steps);
  SetState({initial, 0});
}

bool LossScale::Update(bool skipped) {
  if (skipped) {
    state_.good_steps = 0;
    if (state_.value == 1) return false;
    state_.value /= 2;
    return true;
  }
  if (++state_.good_steps < growth_steps_) return true;
  state_ = {std::min(kLargest, 2 * state_.value), 0};
  return true;
}

void LossScale::SetState(const LossScaleState& state) {
  Require(state.value >= 1 && state.value <= kLargest &&
              std::has_single_bit(static_cast<uint64_t>(state.value)),
          "loss scale", "must be a power of two from 1 to {}, got {}", kLargest, state.value);
  Require(state.good_steps >= 0, "loss scale", "needs good steps from 0 on, got {}",
          state.good_steps);
  state_ = state;
}

}  // namespace torus::parallel
