// Where the time and the bytes of training went, over the steps of all Train calls so far.
// Evaluation and set-up are not included.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/trainer/world_layout.h"

namespace torus::parallel {

// Seconds of one rank, which add up to `wall`, and the bytes that it holds.
struct RankTime {
  RankPlace place;       // which rank it is
  double forward = 0;    // of all micro-batches
  double backward = 0;   // likewise
  double transfer = 0;   // encoding, copying, decoding
  double reduce = 0;     // all-reduce over replicas, including waits
  double optimizer = 0;  // its steps
  double data_wait = 0;  // for batches
  double idle = 0;       // waiting for another stage
  double other = 0;      // between actions
  double wall = 0;
  double pipeline = 0;  // of these, from each step's first forward to its last backward
  int64_t threads = 1;  // that compute for it
  // What it keeps between steps, when the trainer was made or the last Train ended.
  uint64_t weights_bytes = 0, optimizer_bytes = 0;
  // The most bytes of these, gathered weights and gradients together, measured at the actions so
  // far.
  uint64_t peak_bytes = 0;
  // Squares of its weights' distance from replica 0's, and of replica 0's weights, at the same
  // time; 0 with a strategy that keeps the replicas equal.
  double drift_distance = 0, drift_weights = 0;
};

// What went from one rank to another.
struct LinkBytes {
  int from = 0, to = 0;
  // "activations", "gradients", "all-reduce", "tensor-parallel"; "all-reduce, computed" and
  // "tensor-parallel, computed" are sums by a library that does not report what it sends: what a
  // ring sends for them.
  std::string what;
  uint64_t sent = 0;  // payload bytes
  // The same without a codec: the tensors' bytes in memory (float32); for gradients that replicas
  // sum through a codec, what a direct all-reduce sends.
  uint64_t uncompressed = 0;
};

// The largest distance of a replica's weights from those of replica 0, over the norm of these.
double Drift(const std::vector<RankTime>& ranks);

// The share of the ranks' pipeline time in which they run no forward or backward. The pipeline time
// of every rank is the time from a step's first forward to its last backward on the rank of stage
// 0, which runs both. The simulator's bubble is the same if reductions and optimizer steps take no
// time.
struct Bubble {
  double measured = 0;  // in this run
  double ideal = 0;     // simulated, with EqualStages; GPipe and 1F1B: (K - 1) / (M + K - 1)
  double balanced = 0;  // with measured times; a rank's time is divided evenly among its stages
};

// What a trainer has done so far.
struct TrainTotals {
  int64_t steps = 0, samples = 0;  // skipped ones included
  int64_t skipped_steps = 0;       // whose loss or gradients were not finite
  int64_t graph_steps = 0;         // whose forwards and backwards were a launch of a CUDA graph
  int64_t graph_checks = 0;        // of these, those whose norms or finite check were a launch, too
  int64_t graph_updates = 0;       // updates of a stage's weights that were a launch
  std::string why_no_graph;        // what has prevented recording a step or an update
  int64_t loss_scale = 0;          // after the last step; 0 if the run scales no loss
  double seconds = 0;  // from the first step's begin to the last one's end, summed over calls
  std::vector<RankTime> ranks;   // of all of them
  std::vector<LinkBytes> links;  // that carried anything
  Bubble bubble;                 // of the steps so far
};

}  // namespace torus::parallel
