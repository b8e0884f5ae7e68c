// The 256 numbers of block-wise dynamic quantization (dynamic8.h), and the search for the nearest.
#pragma once

#include <span>

#include "parallel/codec/nearest_number.h"

namespace torus::parallel {

// Ascending.
std::span<const float> Dynamic8Numbers();
const NearestNumber& NearestDynamic8();

}  // namespace torus::parallel
