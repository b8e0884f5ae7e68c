// What a central parameter server adds to a mini-batch.
#pragma once

#include <vector>

#include "parallel/link/link_model.h"
#include "parallel/schedule/schedule.h"
#include "parallel/schedule/simulator.h"

namespace torus::parallel {

// Seconds until all of `replicas` equal pipelines, each of which runs as `simulation`, have the new
// weights of all stages. The server is a rank of its own behind one link in each direction, which
// all ranks share: a stage's gradients, `bytes[stage]`, start when its last backward has ended;
// when those of all replicas have come, the stage's weights, as many bytes, go back to each of
// them. The link's window is that of a connection, and each replica has one open at a time. The
// server's own sums and steps take no time here. BadInput unless `bytes` has an entry for each
// stage and there is a replica.
double SecondsWithServer(const Schedule& schedule, const Simulation& simulation, int replicas,
                         const std::vector<double>& bytes, const LinkModel& link);

}  // namespace torus::parallel
