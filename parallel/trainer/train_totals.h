// Where the time and the bytes of training went, over the steps of all Train calls so far.
// Evaluation and the set-up are not in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/trainer/world_layout.h"

namespace torus::parallel {

// Seconds of one rank, which add up to `wall`, and the bytes that it holds.
struct RankTime {
  RankPlace place;
  double forward = 0;
  double backward = 0;
  double transfer = 0;  // encoding, copying, decoding
  double reduce = 0;    // all-reduce over replicas, waits included
  double optimizer = 0;
  double data_wait = 0;
  double idle = 0;   // waiting for another stage
  double other = 0;  // between actions
  double wall = 0;
  double pipeline = 0;  // of these, from each step's first forward to its last backward
  // Of its part of the state, what it keeps between steps; as they were when the trainer began or
  // the last Train ended.
  uint64_t weights_bytes = 0, optimizer_bytes = 0;
  // Most of these, of gathered weights and of gradients together, at the actions so far.
  uint64_t peak_bytes = 0;
  // Squares of the distance of its weights from those of replica 0, and of the latter. Then too; 0
  // but with TrainerOptions::strategy "none".
  double drift_distance = 0, drift_weights = 0;
};

// What went from one rank to another.
struct LinkBytes {
  int from = 0, to = 0;
  std::string what;   // "activations", "gradients", "all-reduce", "tensor-parallel"
  uint64_t sent = 0;  // payload bytes
  // What they would have been as they lie in memory (float32); of gradients that replicas sum
  // through a codec, what a direct all-reduce of them sends.
  uint64_t uncompressed = 0;
};

// The largest distance of a replica's weights from those of replica 0, over the norm of these.
double Drift(const std::vector<RankTime>& ranks);

// The share of the ranks' time in the pipeline in which they do not run a forward or a backward. A
// pipeline's time, for each of its ranks, is that from a step's first forward to its last backward
// on the rank of stage 0, where both are; that of the simulator is the same where nothing is
// reduced and no optimizer steps.
struct Bubble {
  double measured = 0;
  double ideal = 0;     // of the schedule with EqualStages; GPipe and 1F1B: (K - 1) / (M + K - 1)
  double balanced = 0;  // with the measured times of these, a rank's shared by its stages
};

struct TrainTotals {
  int64_t steps = 0, samples = 0;  // skipped ones included
  int64_t skipped_steps = 0;       // whose loss or gradients were not finite
  int64_t graph_steps = 0;         // whose computing was the launch of a CUDA graph
  int64_t graph_checks = 0;        // of these, whose norms or finite check were one, too
  int64_t graph_updates = 0;       // updates of a stage's weights that were one
  std::string why_no_graph;        // what has kept a step or an update from being recorded as one
  int64_t loss_scale = 0;          // after the last step; 0 where the run scales no loss
  double seconds = 0;  // from the first step's begin to the last one's end, summed over calls
  std::vector<RankTime> ranks;
  std::vector<LinkBytes> links;  // that carried anything
  Bubble bubble;
};

}  // namespace torus::parallel
