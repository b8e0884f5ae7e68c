// Batches of sentences without the columns that hold padding alone.
#pragma once

#include "data/loading/batch.h"

namespace torus::data {

// The batches of `rows`, whose inputs are tokens i64 (n, T) and a mask i64 (n, T) as those of a
// TextSet are, cut to the longest row of the batch: what is masked in all rows is left out.
MakeBatch TrimmedBatches(MakeBatch rows);

}  // namespace torus::data
