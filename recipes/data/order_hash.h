// Hashes of a dataset's examples and their order, to distinguish datasets of the same size.
#pragma once

#include <cstdint>

#include "data/datasets/dataset.h"
#include "data/text/tokens.h"

namespace torus::recipes {

// Hashes the targets of at most 65536 evenly spaced examples. For a folder of image files: the
// names of all files and their folders instead.
uint64_t OrderHash(const data::Dataset& dataset);

// Hashes the number of tokens and at most 65536 of them, in evenly spaced runs of 64.
uint64_t OrderHash(const data::Tokens& tokens);

}  // namespace torus::recipes
