// ReduceLROnPlateau: a learning rate that falls when a metric no longer improves, as
// torch.optim.lr_scheduler.ReduceLROnPlateau. Other than the schedules of lr_schedule.h it depends
// on what was measured, so it has state.
#pragma once

#include <cstdint>

namespace torus::parallel {

// PyTorch's arguments and defaults.
struct PlateauOptions {
  bool maximize = false;    // PyTorch's mode: "max", else "min"
  double factor = 0.1;      // of the new rate to the old
  int64_t patience = 10;    // measurements without improvement that are accepted
  double threshold = 1e-4;  // how much better a measurement must be
  bool relative = true;     // PyTorch's threshold_mode: "rel", else "abs"
  int64_t cooldown = 0;     // measurements after a reduction that do not count
  double min_lr = 0;        // the rate falls no lower
  double eps = 1e-8;        // a smaller reduction is not made
};

// What a checkpoint keeps of it.
struct PlateauState {
  double learning_rate = 0, best = 0;  // the rate, and the best measurement so far
  int64_t bad = 0, cooling = 0;        // measurements
};

class ReduceLROnPlateau {
 public:
  // Throws BadInput for a negative rate, min_lr or eps, a factor outside of (0, 1), and a negative
  // patience or cooldown.
  ReduceLROnPlateau(double learning_rate, const PlateauOptions& options = {});

  // Takes a measurement, usually one an epoch, and returns the rate from now on. It has improved if
  // it is below best (1 - threshold), or best - threshold (above best (1 + threshold), or best +
  // threshold, to maximize). NaN is no improvement.
  double Step(double metric);
  double learning_rate() const { return state_.learning_rate; }  // from the last Step on

  // For a checkpoint; LoadState goes on from it.
  const PlateauState& state() const { return state_; }
  void LoadState(const PlateauState& state) { state_ = state; }

 private:
  bool Improves(double metric) const;
  PlateauOptions options_;
  PlateauState state_;
};

}  // namespace torus::parallel
