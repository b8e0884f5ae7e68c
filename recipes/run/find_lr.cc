#include "recipes/run/find_lr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "runtime/error.h"

namespace torus::recipes {
namespace {

constexpr double kFrom = 1e-7, kTo = 10, kDecay = 0.9, kDiverged = 4;

double RateAt(int64_t step) {
  const double share = static_cast<double>(step) / static_cast<double>(kSearchSteps - 1);
  return kFrom * std::pow(kTo / kFrom, share);
}

// What the callbacks of a search's run share. They own it: a thread that was left behind
// (parallel::StuckRank) may call them when the search has been given up.
struct Search {
  explicit Search(RunCallbacks callbacks) : given(std::move(callbacks)) {}
  bool Stops() {
    if (stopped || steps.done()) return true;
    stopped = given.stop_token.stop_requested() || (given.stop && given.stop());
    return stopped;
  }

  const RunCallbacks given;
  RateSteps steps;
  std::atomic<bool> stopped = false;
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

void RateSteps::Add(const parallel::StepReport& report) {
  if (done_) return;
  const bool last = report.step + 1 == kSearchSteps;
  if (std::isfinite(report.loss) && report.skipped) {
    done_ = last;
    return;
  }
  if (std::isfinite(report.loss)) {
    steps_.push_back({report.learning_rate, report.loss});
    const std::vector<RateLoss> smoothed = Smoothed(steps_);
    const double lowest = std::ranges::min_element(smoothed, {}, &RateLoss::loss)->loss;
    if (smoothed.back().loss <= kDiverged * lowest) {
      done_ = last;
      return;
    }
    steps_.pop_back();
  }
  diverged_ = true;
  done_ = true;
}

RateSearch FindLearningRate(RunOptions options, const RunCallbacks& callbacks,
                            parallel::World* world) {
  const auto search = std::make_shared<Search>(callbacks);
  RunCallbacks own = callbacks;
  own.on_step = [search](const parallel::StepReport& report) {
    search->steps.Add(report);
    if (search->given.on_step) search->given.on_step(report);
  };
  own.stop = [search] { return search->Stops(); };
  own.stop_token = {};  // Stops asks it
  const RunResult run = Run(SearchOptions(std::move(options)), own, world);
  const std::vector<RateLoss> smoothed = Smoothed(search->steps.steps());
  return {!search->stopped, search->steps.diverged(), run.folder, smoothed, SteepestRate(smoothed)};
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
  if (search.diverged) text += "then the loss diverged\n";
  if (!search.finished) text += "then it was stopped\n";
  if (!search.rate) return text + "no rate is suggested: the loss never fell";
  const auto lowest = std::ranges::min_element(search.steps, {}, &RateLoss::loss);
  return text + fmt::format(
                    "suggested: --lr {:.2g}, where the loss falls fastest; it was lowest at "
                    "{:.2g}",
                    *search.rate, lowest->rate);
}

}  // namespace torus::recipes
