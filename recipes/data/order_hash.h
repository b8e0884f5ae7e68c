// Hashes of which examples there are and in which order, to tell data from others of their size.
#pragma once

#include <cstdint>

#include "data/datasets/dataset.h"
#include "data/text/tokens.h"

namespace torus::recipes {

// Of the targets of at most 65536 examples, spread evenly; of image files of all their names, each
// with its folder's.
uint64_t OrderHash(const data::Dataset& dataset);

// Of the size and at most 65536 tokens, in runs of 64 that are spread evenly.
uint64_t OrderHash(const data::Tokens& tokens);

}  // namespace torus::recipes
