#include "parallel/optim/lr_plateau.h"

#include <algorithm>
#include <limits>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

ReduceLROnPlateau::ReduceLROnPlateau(double learning_rate, const PlateauOptions& o)
    : options_(o), state_{learning_rate, o.maximize ? -kInfinity : kInfinity} {
  Require(learning_rate >= 0 && o.min_lr >= 0 && o.eps >= 0, "plateau",
          "rate, min_lr and eps must be at least 0, got {}, {} and {}", learning_rate, o.min_lr,
          o.eps);
  Require(o.factor > 0 && o.factor < 1, "plateau", "factor must lie in (0, 1), got {}", o.factor);
  Require(o.patience >= 0 && o.cooldown >= 0, "plateau",
          "patience and cooldown must be at least 0, got {} and {}", o.patience, o.cooldown);
}

bool ReduceLROnPlateau::Improves(double metric) const {
  const double sign = options_.maximize ? 1 : -1, best = state_.best;
  const double bound =
      options_.relative ? best * (1 + sign * options_.threshold) : best + sign * options_.threshold;
  return options_.maximize ? metric > bound : metric < bound;
}

double ReduceLROnPlateau::Step(double metric) {
  if (Improves(metric)) {
    state_.best = metric;
    state_.bad = 0;
  } else {
    ++state_.bad;
  }
  if (state_.cooling > 0) {
    --state_.cooling;
    state_.bad = 0;
  }
  if (state_.bad <= options_.patience) return state_.learning_rate;
  const double lower = std::max(state_.learning_rate * options_.factor, options_.min_lr);
  if (state_.learning_rate - lower > options_.eps) state_.learning_rate = lower;
  state_.cooling = options_.cooldown;
  state_.bad = 0;
  return state_.learning_rate;
}

}  // namespace torus::parallel
