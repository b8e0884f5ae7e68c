// Adam on a GPU where its moments are kept in less than f32 (narrow_state.h).
#pragma once

#include <vector>

#include "parallel/optim/update_items.h"
#include "runtime/stream.h"

namespace torus::parallel::cuda {

// The step of the items whose moments are narrow, in one launch a type; the bits of the CPU's.
void NarrowAdamStep(std::vector<AdamItem>& items, const StepScalars<AdamScalars>& scalars,
                    StreamHandle stream);

}  // namespace torus::parallel::cuda
