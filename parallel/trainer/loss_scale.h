// LossScale: by what the loss is multiplied before the backward, so that gradients in f16 neither
// vanish nor overflow (Micikevicius et al. 2018, "Mixed precision training", section 3.2, and
// torch.amp.GradScaler). Each rank of a run has one: all see the same steps skipped, so all scales
// are the same.
#pragma once

#include <cstdint>

namespace torus::parallel {

struct LossScaleState {
  int64_t value = 0;       // a power of two; 0: the run scales no loss
  int64_t good_steps = 0;  // in a row, since the scale was changed last
};

class LossScale {
 public:
  static constexpr int64_t kLargest = int64_t{1} << 24;
  static constexpr int kGrowthSteps = 2000;

  // The scale to begin with: a power of two from 1 to kLargest. It doubles after `growth_steps`
  // good steps in a row. BadInput for other values.
  explicit LossScale(int64_t initial = 65536, int growth_steps = kGrowthSteps);

  double value() const { return static_cast<double>(state_.value); }
  // After each step. A step that is not finite halves the scale; false where it cannot, being 1.
  bool Update(bool skipped);

  const LossScaleState& state() const { return state_; }
  // BadInput for one that no LossScale can have.
  void SetState(const LossScaleState& state);

 private:
  int growth_steps_;
  LossScaleState state_;
};

}  // namespace torus::parallel
