#include "data/loading/micro_batch.h"

#include <algorithm>
#include <numeric>

#include "runtime/error.h"

namespace torus::data {

Range PartOf(int64_t count, int64_t parts, int64_t part) {
  Require(count >= 0 && part >= 0 && part < parts, "micro-batch",
          "requires a part of 0 to {}, got {}", parts - 1, part);
  const int64_t small = count / parts, larger = count % parts;
  const int64_t begin = part * small + std::min(part, larger);
  return {begin, begin + small + (part < larger ? 1 : 0)};
}

MicroBatch SplitMiniBatch(const MiniBatch& batch, int replicas, int micro_batches, int replica,
                          int micro_batch) {
  Require(replica >= 0 && replica < replicas && micro_batch >= 0 && micro_batch < micro_batches,
          "micro-batch", "requires replica 0 to {} and micro-batch 0 to {}, got {} and {}",
          replicas - 1, micro_batches - 1, replica, micro_batch);
  const Range range =
      PartOf(static_cast<int64_t>(batch.indices.size()), int64_t{replicas} * micro_batches,
             int64_t{replica} * micro_batches + micro_batch);
  MicroBatch part{batch.epoch,
                  {batch.indices.begin() + range.begin, batch.indices.begin() + range.end},
                  std::vector<int64_t>(range.size())};
  std::iota(part.samples.begin(), part.samples.end(), range.begin);
  if (range.size() > 0) part.next = batch.indices[range.end % batch.indices.size()];
  return part;
}

}  // namespace torus::data
