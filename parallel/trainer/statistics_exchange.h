// The statistics of all replicas' micro-batches, for TrainerOptions::reproducible. Trainer's own
// part.
#pragma once

#include "parallel/trainer/control.h"
#include "runtime/share_statistics.h"

namespace torus::parallel {

// What ShareStatistics gives. Called by all replicas of a stage together; `control` is between
// them, in their order, and each has `micro_batches` of its own.
KeptStatistics ExchangeStatistics(Control& control, const KeptStatistics& own, int micro_batches,
                                  Device device);

}  // namespace torus::parallel
