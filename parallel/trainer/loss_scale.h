// LossScale: the factor of the loss before the backward, so that gradients in f16 neither vanish
// nor overflow (Micikevicius et al. 2018, "Mixed precision training", section 3.2, and
// torch.amp.GradScaler). Each rank of a run has one. All ranks skip the same steps, so all scales
// are equal.
#pragma once

#include <cstdint>

namespace torus::parallel {

// What a checkpoint keeps of it.
struct LossScaleState {
  int64_t value = 0;       // a power of two; 0: the run scales no loss
  int64_t good_steps = 0;  // in a row since the scale last changed
};

class LossScale {
 public:
  static constexpr int64_t kLargest = int64_t{1} << 24;  // the scale grows no further
  static constexpr int kGrowthSteps = 2000;              // good steps after which it doubles

  // `initial`: a power of two from 1 to kLargest. The scale doubles after `growth_steps` good steps
  // in a row. Throws BadInput for other values.
  explicit LossScale(int64_t initial = 65536, int growth_steps = kGrowthSteps);

  // By which the loss is multiplied.
  double value() const { return static_cast<double>(state_.value); }
  // Call after each step. A skipped step (one that was not finite) halves the scale. Returns false
  // if the scale is 1 already and cannot be halved.
  bool Update(bool skipped);

  const LossScaleState& state() const { return state_; }  // for a checkpoint
  // Throws BadInput for a state that no LossScale can have.
  void SetState(const LossScaleState& state);

 private:
  int growth_steps_;
  LossScaleState state_;
};

}  // namespace torus::parallel
