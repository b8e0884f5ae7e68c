// Which samples a rank meets, epoch by epoch, with a sampler that is told the epoch and with one
// that is not.
#pragma once

#include <cstdint>
#include <vector>

#include "data/loading/sampler.h"

namespace torus::labs {

struct OrderOptions {
  int64_t samples = 0;  // of the data set
  int64_t batch = 0;    // of a rank
  int64_t ranks = 1;
  uint64_t seed = 0;
  bool sets_epoch = true;  // calls Sampler::SetEpoch; else each epoch is shuffled as epoch 0
};

// The samples of `rank` in epoch `epoch` (from 0), in the order in which it meets them; a last
// batch that is not whole is left out. As the loader of a run deals them out
// (data::SplitMiniBatch).
std::vector<int64_t> SamplesOf(const OrderOptions& options, int64_t epoch, int64_t rank);

// How many different samples it has met after `epochs` of them.
int64_t DistinctSamples(const OrderOptions& options, int64_t epochs, int64_t rank);

}  // namespace torus::labs
