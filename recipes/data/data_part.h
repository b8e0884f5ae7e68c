// DataPart: examples to train on, to validate on or to test on.
#pragma once

#include <cstdint>

#include "data/loading/batch.h"

namespace torus::recipes {

struct DataPart {
  int64_t size = 0;  // examples per epoch
  data::MakeBatch batches;
  bool shuffle = false;  // the sampler shuffles each epoch
  uint64_t order = 0;    // OrderHash of the examples
};

}  // namespace torus::recipes
