// Looks for a learning rate by the range test of Smith 2017 ("Cyclical learning rates for training
// neural networks", section 3.3).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recipes/run/run.h"

namespace torus::recipes {

// A step's learning rate and its loss.
struct RateLoss {
  double rate = 0;
  double loss = 0;
};

struct RateSearch {
  bool finished = true;   // false: `stop` or the stop token ended it
  bool diverged = false;  // whether the loss did, which ends a search
  std::string folder;     // of its run
  // The steps before the loss diverged, with their smoothed losses: the loss of a step diverges if
  // it is not finite, or if it lifts the smoothed loss above four times the lowest one. Without
  // those that were skipped.
  std::vector<RateLoss> steps;
  std::optional<double> rate;  // SteepestRate
};

inline constexpr int64_t kSearchSteps = 100;

// Collects the steps of a search's run until the loss diverges or the last step is done.
class RateSteps {
 public:
  // A step whose loss is finite and which was skipped, such as one that halved the loss scale of
  // f16, tells nothing about its rate and is left out.
  void Add(const parallel::StepReport& report);
  bool done() const { return done_; }  // on any thread
  bool diverged() const { return diverged_; }
  const std::vector<RateLoss>& steps() const { return steps_; }

 private:
  std::vector<RateLoss> steps_;
  bool diverged_ = false;
  std::atomic<bool> done_ = false;
};

// Trains kSearchSteps steps of a run with `options`, whose learning rates rise from 1e-7 to 10 by
// equal factors, until the loss diverges. Evaluates nothing. Called as Run is; processes that do
// not lead return no steps. Throws what Run throws, and BadInput if options.resume is set.
RateSearch FindLearningRate(RunOptions options, const RunCallbacks& callbacks = {},
                            parallel::World* world = nullptr);

// The losses' running mean, where each step before counts 0.9 times as much as the next, without
// the bias of its beginning (Kingma and Ba 2015, algorithm 1).
std::vector<RateLoss> Smoothed(const std::vector<RateLoss>& steps);

// The rate at which the smoothed loss falls fastest over the logarithm of the rate, before it is
// lowest. None if it never falls, or for fewer than three steps.
std::optional<double> SteepestRate(const std::vector<RateLoss>& smoothed);

// A table of some steps and what follows from them, for people.
std::string ToText(const RateSearch& search);

}  // namespace torus::recipes
