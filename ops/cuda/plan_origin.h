// Which GPU and which libraries propose plans.
#pragma once

#include "ops/cuda/plans.h"
#include "runtime/device.h"

namespace torus::cuda {

// Of a GPU of this machine, and of the libraries that the program has loaded.
PlanOrigin OriginOf(Device gpu);

}  // namespace torus::cuda
