// Gathers the state of all stages on rank 0. Trainer's own part.
#pragma once

#include <map>

#include "parallel/trainer/control.h"
#include "parallel/trainer/state_copy.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// Called by all ranks of `world` together, each with its own stages, by number (empty: it has
// none to give). Returns copies of those of all ranks on rank 0; nothing elsewhere. Tensors travel
// one by one, as control messages.
std::map<int, StageTensors> GatherStages(Transport& world, Control& control,
                                         const std::map<int, StageTensors>& own);

}  // namespace torus::parallel
