// The chance level that a model must beat for its results to mean anything.
#pragma once

#include <optional>
#include <string>

#include "recipes/settings/settings.h"

namespace torus::experiments {

// The chance level of the data of a run, whose data_dir must be filled in.
struct Chance {
  // For a classifier: the percentage of the test set's most frequent class.
  std::optional<double> majority;
  // For a language model: nats per token of the test part, predicted from the frequency of each
  // token in the training part (with one added to each count).
  std::optional<double> unigrams;
};

Chance ChanceOf(const recipes::Settings& settings);

// A result has a signal if it is this many percentage points above the majority class, or this many
// nats below the unigrams.
inline constexpr double kPointsAbove = 10, kNatsBelow = 0.3;

// Whether a result has a signal: decided by `accuracy`, in percent, for a classifier, and by `loss`
// for a language model.
bool HasSignal(const Chance& chance, std::optional<double> accuracy, double loss);

}  // namespace torus::experiments
