// Interleaved 1F1B (Narayanan et al. 2021b, "Efficient Large-Scale Language Model Training on GPU
// Clusters Using Megatron-LM", section 2.2): each of K ranks runs v chunks of the model, v times as
// small, so that the pipeline fills and drains v times as quickly. Two ranks with two chunks:
//
//   rank 0 | 0F0 0F1 2F0 2F1 ..  2B0 ..  2B1 0B0 0B1
//   rank 1 | ..  1F0 1F1 3F0 3B0 3F1 3B1 1B0 1B1 ..
//
// Micro-batches go in groups of K: a group passes through one chunk of the rank, then through its
// next chunk. If the last group is smaller, it has the order of a full group without the missing
// micro-batches. At most v K + K - 1 chunks of activations are in flight on a rank.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Returns forwards and backwards only; Lower adds the rest. Takes any number of chunks. Throws what
// CheckSize throws.
Schedule Interleaved(const PipelineSize& size);

// The same with split backwards, as in ZB-H1 (zero_bubble.h), which it is with one chunk: on rank r
// the half for the weights comes r backwards later. Where M is a multiple of K and f = b_input = w,
// the ranks idle for a third of the time, with as much in flight at most.
Schedule InterleavedZeroBubble(const PipelineSize& size);

}  // namespace torus::parallel
