// The search for the nearest of the 256 numbers of dynamic8.h.
#pragma once

#include "parallel/codec/nearest_number.h"

namespace torus::parallel {

const NearestNumber& NearestDynamic8();

}  // namespace torus::parallel
