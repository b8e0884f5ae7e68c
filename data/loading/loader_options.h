// How a loader divides, and how far it runs ahead.
#pragma once

#include <cstdint>
#include <vector>

namespace torus::data {

struct LoaderOptions {
  int replicas = 1;
  int micro_batches = 1;            // of each replica
  std::vector<int> local_replicas;  // those fetched in this process; empty: all
  // Times that each micro-batch is fetched: 2 where the first and the last stage both do.
  int readers = 1;
  int workers = 2;              // threads
  int prefetch = 2;             // mini-batches in the window, the one in use included
  int64_t steps = -1;           // mini-batches to make, from the sampler's position; -1: no end
  double timeout_seconds = 60;  // of a Fetch while no worker makes progress
};

// The options with local_replicas filled in. BadInput for a count below 1, and for a local replica
// that is not one or is named twice.
LoaderOptions Checked(LoaderOptions options);

}  // namespace torus::data
