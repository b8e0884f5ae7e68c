#include "parallel/optim/lr_schedule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

// From `start` to `end` along half a cosine, as `share` goes from 0 to 1.
double CosineBetween(double start, double end, double share) {
  return end + (start - end) / 2 * (1 + std::cos(std::numbers::pi * share));
}

LrSchedule Cosine(int64_t steps) {
  return [steps](int64_t step) {
    return CosineBetween(1, 0,
                         static_cast<double>(std::min(step, steps)) / static_cast<double>(steps));
  };
}

// The rate peaks at step `rise` - 1, which need not be whole, and ends at the last step.
LrSchedule OneCycle(int64_t steps, double rise) {
  constexpr double kStart = 1.0 / 25, kEnd = kStart / 1e4;
  return [peak = rise - 1, last = static_cast<double>(steps - 1)](int64_t step) {
    const double at = std::min(static_cast<double>(step), last);
    if (at < peak) return CosineBetween(kStart, 1, at / peak);
    return last > peak ? CosineBetween(1, kEnd, (at - peak) / (last - peak)) : 1.0;
  };
}

LrSchedule Decay(int64_t period, double gamma) {
  return [=](int64_t step) { return std::pow(gamma, static_cast<double>(step / period)); };
}

LrSchedule WarmUp(int64_t steps, LrSchedule then) {
  if (steps == 0) return then;
  return [steps, then = std::move(then)](int64_t step) {
    if (step >= steps) return then(step - steps);
    return static_cast<double>(step + 1) / static_cast<double>(steps + 1);
  };
}

template <class T>
T Number(std::string_view text, const std::string& spec) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  Require(error == std::errc() && end == text.data() + text.size(), "lr-schedule",
          "'{}' in '{}' is not a number; the form is step:N:GAMMA, as in step:30:0.1", text, spec);
  return value;
}

// step:N:GAMMA
LrSchedule ParseStep(const std::string& spec, int64_t steps_per_epoch) {
  const std::string_view rest = std::string_view(spec).substr(5);
  const size_t colon = rest.find(':');
  Require(colon != rest.npos, "lr-schedule",
          "'{}' lacks a part; the form is step:N:GAMMA, as in step:30:0.1", spec);
  const auto epochs = Number<int64_t>(rest.substr(0, colon), spec);
  const auto gamma = Number<double>(rest.substr(colon + 1), spec);
  Require(epochs >= 1, "lr-schedule", "'{}' needs at least 1 epoch between its steps, got {}", spec,
          epochs);
  Require(gamma > 0 && gamma <= 1, "lr-schedule",
          "'{}' needs a factor above 0 and at most 1, got {}", spec, gamma);
  return Decay(epochs * steps_per_epoch, gamma);
}

void Check(const RunLength& length) {
  const auto& [total, warmup, epoch] = length;
  Require(total >= 1, "lr-schedule", "a run needs at least 1 step, got {}", total);
  Require(epoch >= 1, "lr-schedule", "an epoch needs at least 1 step, got {}", epoch);
  Require(warmup >= 0 && warmup < total, "lr-schedule",
          "warm-up must be shorter than the run of {} steps, got {}", total, warmup);
}

LrSchedule Parse(const std::string& spec, const RunLength& length) {
  const auto& [total, warmup, epoch] = length;
  if (spec == "constant") return WarmUp(warmup, [](int64_t) { return 1.0; });
  if (spec == "cosine") return WarmUp(warmup, Cosine(total - warmup));
  if (spec == "one-cycle")
    return OneCycle(total,
                    warmup > 0 ? static_cast<double>(warmup) : 0.3 * static_cast<double>(total));
  if (spec.starts_with("step:")) return WarmUp(warmup, ParseStep(spec, epoch));
  Throw<BadInput>("lr-schedule", "known schedules are {}; got '{}'",
                  fmt::join(LrScheduleNames(), ", "), spec);
}

}  // namespace

std::vector<std::string> LrScheduleNames() {
  return {"constant", "cosine", "one-cycle", "step:N:GAMMA"};
}

LrSchedule MakeLrSchedule(const std::string& spec, const RunLength& length) {
  Check(length);
  return [schedule = Parse(spec, length)](int64_t step) {
    Require(step >= 0, "lr-schedule", "steps count from 0, got {}", step);
    return schedule(step);
  };
}

}  // namespace torus::parallel
