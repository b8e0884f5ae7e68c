// Batches of examples that are alike: each input stacked, and the target.
#pragma once

#include "data/datasets/dataset.h"
#include "data/loading/batch.h"

namespace torus::data {

// The MakeBatch of a dataset whose examples have the same shapes and dtypes, as those of texts do:
// input k is (n, shape of the examples' input k), the target (n, shape of theirs), also where n
// is 0. `dataset` must outlive it. BadInput naming the dataset and the example that differs. Ticks
// the thread's progress after each example.
MakeBatch StackedBatches(const Dataset& dataset);

}  // namespace torus::data
