// Hashes of which examples there are and in which order, to tell data from others of their size.
#pragma once

#include <cstdint>

#include "data/datasets/dataset.h"
#include "data/text/tokens.h"

namespace torus::recipes {

// Hashes the targets of at most 65536 examples, at equal distances; of image files instead the
// names of all of them with their folders'.
uint64_t OrderHash(const data::Dataset& dataset);

// Hashes the size and at most 65536 tokens, in runs of 64 at equal distances.
uint64_t OrderHash(const data::Tokens& tokens);

}  // namespace torus::recipes
