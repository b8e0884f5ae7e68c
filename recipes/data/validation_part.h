// The part of the training examples that a run holds out to validate on (--validation).
#pragma once

#include <cstdint>
#include <vector>

#include "recipes/data/data_part.h"

namespace torus::recipes {

// Numbers of examples, each in ascending order.
struct HeldOut {
  std::vector<int64_t> training, validation;
};

// Holds out the share `validation` of `size` examples, rounded: always the same ones of a dataset,
// whatever the run's seed, so that runs are compared on the same examples. Throws BadInput if that
// leaves either part without an example.
HeldOut HoldOut(int64_t size, double validation);

// How many tokens of a text of `tokens` are left to train on; what is held out is its end. Throws
// BadInput as above.
int64_t TokensToTrainOn(int64_t tokens, double validation);

// Leaves of `train` its training examples, and returns those that are held out of `whole`, which
// has the same examples, as they are evaluated.
DataPart Divide(HeldOut parts, DataPart whole, DataPart& train);

}  // namespace torus::recipes
