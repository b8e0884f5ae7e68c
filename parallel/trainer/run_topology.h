// Which ranks of a run move GPU memory between them. Internal to the trainer.
#pragma once

#include <vector>

#include "parallel/pipeline/skip_connections.h"
#include "parallel/schedule/schedule.h"
#include "parallel/trainer/world_layout.h"
#include "parallel/transport/topology.h"

namespace torus::parallel {

// Neighbours in the schedule, the two ends of each skip connection and the ranks with a use of one
// tied parameter (`tied`: the stages of the uses of each), in all pipelines; with
// `shares_cuts` also the tensor-parallel ranks of a place, which hand each other what crosses a
// cut; with `engine` a group of each place's tensor-parallel ranks and of its replicas. So a rank
// has one communicator for each of these and at most one for each of the two groups, however many
// ranks there are.
Topology TopologyOf(const Schedule& schedule, const WorldLayout& layout,
                    const std::vector<SkipConnection>& skips,
                    const std::vector<std::vector<int>>& tied, bool shares_cuts, bool engine);

}  // namespace torus::parallel
