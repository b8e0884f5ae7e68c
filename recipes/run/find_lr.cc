#include "recipes/run/find_lr.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "runtime/error.h"

namespace torus::recipes {
namespace {

constexpr double kFrom = 1e-7, kTo = 10, kDecay = 0.9, kDiverged = 4;

double RateAt(int64_t step) {
  const double share = static_cast<double>(step) / static_cast<double>(kSearchSteps - 1);
  return kFrom * std::pow(kTo / kFrom, share);
}

// Collects a run's steps until the loss diverges.
class Search {
 public:
  void Add(const parallel::StepReport& report) {
    const bool finite = !report.skipped && std::isfinite(report.loss);
    if (finite && !done_) {
      steps_.push_back({report.learning_rate, report.loss});
      const std::vector<RateLoss> smoothed = Smoothed(steps_);
      const double lowest = std::ranges::min_element(smoothed, {}, &RateLoss::loss)->loss;
      if (smoothed.back().loss <= kDiverged * lowest) {
        done_ = std::ssize(steps_) == kSearchSteps;
        return;
      }
      steps_.pop_back();
    }
    done_ = true;
  }
  // From other threads too.
  bool done() const { return done_; }
  const std::vector<RateLoss>& steps() const { return steps_; }

 private:
  std::vector<RateLoss> steps_;
  std::atomic<bool> done_ = false;
};

// Without what would only take time: the run is not to be used.
RunOptions SearchOptions(RunOptions options) {
  Require(options.resume.empty(), "train", "--find-lr begins a run; leave out --resume");
  Settings& s = options.settings;
  s.epochs = std::max(s.epochs, kSearchSteps);  // each has a step at least
  s.ema = 0;
  s.patience = 0;
  options.learning_rate = RateAt;
  options.max_steps = kSearchSteps;
  options.checkpoint_every = options.eval_every = kSearchSteps + 1;
  options.max_skipped = kSearchSteps + 1;
  return options;
}

}  // namespace

RateSearch FindLearningRate(RunOptions options, const RunCallbacks& callbacks,
                            parallel::World* world) {
  Search search;
  bool stopped = false;
  RunCallbacks own = callbacks;
  own.on_step = [&](const parallel::StepReport& report) {
    search.Add(report);
    if (callbacks.on_step) callbacks.on_step(report);
  };
  own.stop = [&] {
    if (callbacks.stop && callbacks.stop()) stopped = true;
    return stopped || search.done();
  };
  const RunResult run = Run(SearchOptions(std::move(options)), own, world);
  const std::vector<RateLoss> smoothed = Smoothed(search.steps());
  return {!stopped, run.folder, smoothed, SteepestRate(smoothed)};
}

std::vector<RateLoss> Smoothed(const std::vector<RateLoss>& steps) {
  std::vector<RateLoss> smoothed;
  double mean = 0, weight = 0;
  for (const RateLoss& step : steps) {
    mean = kDecay * mean + (1 - kDecay) * step.loss;
    weight = kDecay * weight + (1 - kDecay);
    smoothed.push_back({step.rate, mean / weight});
  }
  return smoothed;
}

std::optional<double> SteepestRate(const std::vector<RateLoss>& smoothed) {
  if (smoothed.size() < 3) return std::nullopt;
  const auto lowest = std::ranges::min_element(smoothed, {}, &RateLoss::loss);
  std::optional<double> rate;
  double steepest = 0;
  for (auto step = smoothed.begin() + 1; step < lowest; ++step) {
    const double slope =
        (step[1].loss - step[-1].loss) / (std::log(step[1].rate) - std::log(step[-1].rate));
    if (slope >= steepest) continue;
    steepest = slope;
    rate = step->rate;
  }
  return rate;
}

std::string ToText(const RateSearch& search) {
  constexpr int64_t kRows = 20;
  std::string text = "learning rate   loss (smoothed)\n";
  const int64_t count = std::ssize(search.steps), every = std::max<int64_t>(1, count / kRows);
  for (int64_t i = 0; i < count; i += every)
    text += fmt::format("{:<16.3g}{:.4f}\n", search.steps[i].rate, search.steps[i].loss);
  if (count < kSearchSteps) text += "then the loss diverged\n";
  if (!search.rate) return text + "no rate is suggested: the loss never fell";
  const auto lowest = std::ranges::min_element(search.steps, {}, &RateLoss::loss);
  return text + fmt::format(
                    "suggested: --lr {:.2g}, where the loss falls fastest; it was lowest at "
                    "{:.2g}",
                    *search.rate, lowest->rate);
}

}  // namespace torus::recipes
