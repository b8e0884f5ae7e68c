#include "parallel/optim/lr_schedule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr int64_t kMostEpochs = 1'000'000;  // of step:N:GAMMA
constexpr double kMostPower = 1000;

// Goes from `start` to `end` along half a cosine as `share` goes from 0 to 1.
double CosineBetween(double start, double end, double share) {
  return end + (start - end) / 2 * (1 + std::cos(std::numbers::pi * share));
}

// The share of `steps` that has passed, at most 1.
double Share(int64_t step, int64_t steps) {
  return static_cast<double>(std::min(step, steps)) / static_cast<double>(steps);
}

LrSchedule Cosine(int64_t steps, double end) {
  return [=](int64_t step) { return CosineBetween(1, end, Share(step, steps)); };
}

LrSchedule Polynomial(int64_t steps, double power, double end) {
  return [=](int64_t step) { return end + (1 - end) * std::pow(1 - Share(step, steps), power); };
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
T Number(std::string_view text, const std::string& spec, std::string_view form) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  Require(error == std::errc() && end == text.data() + text.size(), "lr-schedule",
          "'{}' in '{}' is not a number; the form is {}", text, spec, form);
  return value;
}

// The parts between colons; the first is the name.
std::vector<std::string_view> SplitAtColons(std::string_view spec) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= spec.size();) {
    const size_t end = std::min(spec.find(':', begin), spec.size());
    parts.push_back(spec.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Part i as the final factor of a schedule; 0 if absent.
double EndFactor(const std::vector<std::string_view>& parts, size_t i, const std::string& spec,
                 std::string_view form) {
  Require(parts.size() <= i + 1, "lr-schedule", "'{}' has a part too many; the form is {}", spec,
          form);
  const double end = parts.size() == i ? 0.0 : Number<double>(parts[i], spec, form);
  Require(end >= 0 && end <= 1, "lr-schedule", "'{}' needs a last factor from 0 to 1, got {}", spec,
          end);
  return end;
}

// polynomial:P[:F]
LrSchedule ParsePolynomial(const std::vector<std::string_view>& parts, const std::string& spec,
                           int64_t steps) {
  constexpr std::string_view kForm = "polynomial:P or polynomial:P:F, as in polynomial:2:0.1";
  Require(parts.size() >= 2, "lr-schedule", "'{}' lacks a part; the form is {}", spec, kForm);
  const auto power = Number<double>(parts[1], spec, kForm);
  Require(power > 0 && power <= kMostPower, "lr-schedule",
          "'{}' needs a power above 0 and at most {}, got {}", spec, kMostPower, power);
  return Polynomial(steps, power, EndFactor(parts, 2, spec, kForm));
}

// step:N:GAMMA
LrSchedule ParseStep(const std::vector<std::string_view>& parts, const std::string& spec,
                     int64_t steps_per_epoch) {
  constexpr std::string_view kForm = "step:N:GAMMA, as in step:30:0.1";
  Require(parts.size() == 3, "lr-schedule", "'{}' has {} parts; the form is {}", spec, parts.size(),
          kForm);
  const auto epochs = Number<int64_t>(parts[1], spec, kForm);
  const auto gamma = Number<double>(parts[2], spec, kForm);
  Require(epochs >= 1 && epochs <= kMostEpochs, "lr-schedule",
          "'{}' needs from 1 to {} epochs between its steps, got {}", spec, kMostEpochs, epochs);
  Require(epochs <= std::numeric_limits<int64_t>::max() / steps_per_epoch, "lr-schedule",
          "'{}' has more steps than can be counted in {} epochs of {}", spec, epochs,
          steps_per_epoch);
  Require(gamma > 0 && gamma <= 1, "lr-schedule",
          "'{}' needs a factor above 0 and at most 1, got {}", spec, gamma);
  return Decay(epochs * steps_per_epoch, gamma);
}

void Check(const RunLength& length) {
  const auto& [total, warmup, epoch] = length;
  Require(total >= 1, "lr-schedule", "a run needs at least 1 step, got {}", total);
  Require(epoch >= 1, "lr-schedule", "an epoch needs at least 1 step, got {}", epoch);
  Require(warmup >= 0 && warmup < total, "lr-schedule",
          "--warmup must be shorter than the run of {} steps, got {}", total, warmup);
}

LrSchedule Parse(const std::string& spec, const RunLength& length) {
  const auto& [total, warmup, epoch] = length;
  if (spec == "constant") return WarmUp(warmup, [](int64_t) { return 1.0; });
  const std::vector<std::string_view> parts = SplitAtColons(spec);
  if (parts[0] == "cosine")
    return WarmUp(warmup, Cosine(total - warmup, EndFactor(parts, 1, spec, "cosine or cosine:F")));
  if (parts[0] == "linear")
    return WarmUp(warmup,
                  Polynomial(total - warmup, 1, EndFactor(parts, 1, spec, "linear or linear:F")));
  if (parts[0] == "polynomial") return WarmUp(warmup, ParsePolynomial(parts, spec, total - warmup));
  if (spec == "one-cycle")
    return OneCycle(total,
                    warmup > 0 ? static_cast<double>(warmup) : 0.3 * static_cast<double>(total));
  if (parts[0] == "step") return WarmUp(warmup, ParseStep(parts, spec, epoch));
  Throw<BadInput>("lr-schedule", "known schedules are {}; got '{}'",
                  fmt::join(LrScheduleNames(), ", "), spec);
}

}  // namespace

std::vector<std::string> LrScheduleNames() {
  return {"constant", "cosine[:F]", "linear[:F]", "polynomial:P[:F]", "one-cycle", "step:N:GAMMA"};
}

LrSchedule MakeLrSchedule(const std::string& spec, const RunLength& length) {
  Check(length);
  return [schedule = Parse(spec, length)](int64_t step) {
    Require(step >= 0, "lr-schedule", "steps count from 0, got {}", step);
    return schedule(step);
  };
}

}  // namespace torus::parallel
