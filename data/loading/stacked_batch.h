// Batches of examples with equal shapes: inputs and targets are stacked.
#pragma once

#include "data/datasets/dataset.h"
#include "data/loading/batch.h"
#include "data/loading/batch_memory.h"

namespace torus::data {

// The MakeBatch of a dataset whose examples all have the same shapes and dtypes, as text datasets
// do: input k is (n, shape of an example's input k), the target (n, shape of an example's target),
// also for n = 0. `dataset` must outlive it. Throws BadInput naming the dataset and an example that
// differs. Ticks the thread's progress after each example.
MakeBatch StackedBatches(const Dataset& dataset, BatchMemory memory = BatchMemory::kOrdinary);

}  // namespace torus::data
