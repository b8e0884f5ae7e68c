#include "tools/labs/questions/sample_order.h"

#include <set>

#include "data/loading/micro_batch.h"

namespace torus::labs {

std::vector<int64_t> SamplesOf(const OrderOptions& o, int64_t epoch, int64_t rank) {
  data::Sampler sampler({.size = o.samples,
                         .batch_size = o.batch * o.ranks,
                         .seed = o.seed,
                         .shuffle = true,
                         .drop_last = true});
  if (o.sets_epoch) sampler.SetEpoch(epoch);
  std::vector<int64_t> samples;
  for (int64_t i = 0; i < sampler.batches_per_epoch(); ++i) {
    const data::MicroBatch own = data::SplitMiniBatch(sampler.Next(), static_cast<int>(o.ranks), 1,
                                                      static_cast<int>(rank), 0);
    samples.insert(samples.end(), own.indices.begin(), own.indices.end());
  }
  return samples;
}

int64_t DistinctSamples(const OrderOptions& options, int64_t epochs, int64_t rank) {
  std::set<int64_t> met;
  for (int64_t epoch = 0; epoch < epochs; ++epoch)
    for (const int64_t sample : SamplesOf(options, epoch, rank)) met.insert(sample);
  return std::ssize(met);
}

}  // namespace torus::labs
