// Trims batches of sentences: removes the columns that hold only padding.
#pragma once

#include "data/loading/batch.h"

namespace torus::data {

// Trims the batches of `rows` to the longest row of each batch: columns that are masked in all rows
// are removed. The inputs are tokens i64 (n, T) and a mask i64 (n, T), as in a TextSet.
MakeBatch TrimmedBatches(MakeBatch rows);

}  // namespace torus::data
