// Numbers the documents in windows of a text, for models whose attention stays within a document.
#pragma once

#include <cstdint>

#include "data/loading/batch.h"
#include "data/loading/batch_memory.h"

namespace torus::data {

// Adds to the batches of `windows`, whose input 0 is tokens i64 (n, T), an input i64 (n, T): the
// number of each token's document in its row, from 1. A document begins with the token
// `end_of_text` that stands before it. So that token is predicted by the document that it ends, and
// the first token of the next one by it alone: every place of a window keeps its target.
MakeBatch DocumentBatches(MakeBatch windows, int64_t end_of_text,
                          BatchMemory memory = BatchMemory::kOrdinary);

}  // namespace torus::data
