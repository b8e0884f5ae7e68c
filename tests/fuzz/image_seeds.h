// Small good images of each format that is read.
#pragma once

#include <vector>

#include "tests/fuzz/mutator.h"

namespace torus::fuzz {

// PNG (colour, grey, alpha), JPEG, BMP, PPM and PGM, of 9 x 7 pixels.
std::vector<Bytes> ImageSeeds();

}  // namespace torus::fuzz
