// How a loader divides mini-batches, and how far it runs ahead.
#pragma once

#include <cstdint>
#include <vector>

namespace torus::data {

// Which micro-batches are made, and how far ahead.
struct LoaderOptions {
  int replicas = 1;                      // of the whole run
  int micro_batches = 1;                 // per replica
  std::vector<int> local_replicas = {};  // the replicas fetched in this process; empty: all
  // How often each micro-batch is fetched: 2 if both the first and the last stage fetch it.
  int readers = 1;
  int workers = 2;              // threads
  int prefetch = 2;             // mini-batches in the window, including the one in use
  int64_t steps = -1;           // mini-batches to make, from the sampler's position; -1: no limit
  double timeout_seconds = 60;  // for a Fetch while no worker makes progress
};

// Returns the options with local_replicas filled in. Throws BadInput for a count below 1, and for a
// local replica that does not exist or is listed twice.
LoaderOptions Checked(LoaderOptions options);

}  // namespace torus::data
