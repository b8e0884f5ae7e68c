// What a model must beat before its figures mean anything.
#pragma once

#include <optional>
#include <string>

#include "recipes/settings/settings.h"

namespace torus::experiments {

// Of the data of a run, whose data_dir is filled in.
struct Chance {
  // Of a classifier: the percentage of the test set's most frequent class.
  std::optional<double> majority;
  // Of a language model: nats a token of the test part, guessed from how frequent each token is in
  // the training part (each counted once more than it occurs).
  std::optional<double> unigrams;
};

Chance ChanceOf(const recipes::Settings& settings);

// Points of accuracy above the majority class, and nats below the unigrams, that make a signal.
inline constexpr double kPointsAbove = 10, kNatsBelow = 0.3;

// Whether a result ({"accuracy"} in percent, or {"loss"}) beats that.
bool HasSignal(const Chance& chance, std::optional<double> accuracy, double loss);

}  // namespace torus::experiments
