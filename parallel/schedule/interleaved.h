// Interleaved 1F1B (Narayanan et al. 2021b, "Efficient Large-Scale Language Model Training on GPU
// Clusters Using Megatron-LM", section 2.2): each of K ranks runs v chunks of the model, v times as
// small, so that the pipeline fills and drains v times as quickly. Two ranks with two chunks:
//
//   rank 0 | 0F0 0F1 2F0 2F1 ..  2B0 ..  2B1 0B0 0B1
//   rank 1 | ..  1F0 1F1 3F0 3B0 3F1 3B1 1B0 1B1 ..
//
// Micro-batches go in groups of K: a group through a chunk, then through the rank's next. A last
// group that is smaller takes the order of a whole one, without the micro-batches that it lacks. At
// most v K + K - 1 chunks of activations are in flight on a rank.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Forwards and backwards alone; Lower adds the rest. The errors of CheckSize; any number of chunks.
Schedule Interleaved(const PipelineSize& size);

}  // namespace torus::parallel
