// Which samples a rank sees in each epoch, with a sampler that is told the epoch and with one that
// is not.
#pragma once

#include <cstdint>
#include <vector>

#include "data/loading/sampler.h"

namespace torus::labs {

struct OrderOptions {
  int64_t samples = 0;  // of the dataset
  int64_t batch = 0;    // per rank
  int64_t ranks = 1;
  uint64_t seed = 0;
  bool sets_epoch = true;  // calls Sampler::SetEpoch; else each epoch has the order of epoch 0
};

// The samples of `rank` in epoch `epoch` (from 0), in order, distributed as the loader of a run
// does (data::SplitMiniBatch). An incomplete last batch is left out.
std::vector<int64_t> SamplesOf(const OrderOptions& options, int64_t epoch, int64_t rank);

// How many different samples `rank` has seen after `epochs` epochs.
int64_t DistinctSamples(const OrderOptions& options, int64_t epochs, int64_t rank);

}  // namespace torus::labs
