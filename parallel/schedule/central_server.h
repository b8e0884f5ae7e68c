// Predicts the time of a mini-batch with a central parameter server.
#pragma once

#include <vector>

#include "parallel/link/link_model.h"
#include "parallel/schedule/schedule.h"
#include "parallel/schedule/simulator.h"

namespace torus::parallel {

// Returns the seconds until all of `replicas` equal pipelines, each of which runs as `simulation`,
// have the new weights of all stages. The server is a rank of its own; all ranks share one link to
// it and one link back. Stage s sends `bytes[s]` of gradients when its last backward has ended.
// When the gradients of all replicas have come, the server sends the stage's weights, as many
// bytes, to each replica. The link's window is that of a connection, and each replica has one open
// at a time. The server's own sums and optimizer steps take no time. Throws BadInput unless `bytes`
// has an entry for each stage and there is at least one replica.
double SecondsWithServer(const Schedule& schedule, const Simulation& simulation, int replicas,
                         const std::vector<double>& bytes, const LinkModel& link);

}  // namespace torus::parallel
