// Exchanges the statistics of all replicas' micro-batches, for TrainerOptions::reproducible.
// Internal to the trainer.
#pragma once

#include "parallel/collectives/communicator.h"
#include "runtime/share_statistics.h"

namespace torus::parallel {

// Returns what a ShareStatistics function returns. All replicas of a stage call it together.
// Each has `micro_batches` micro-batches.
KeptStatistics ExchangeStatistics(Communicator& replicas, const KeptStatistics& own,
                                  int micro_batches, Device device);

}  // namespace torus::parallel
