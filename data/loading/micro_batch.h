// How one mini-batch is divided among replicas and micro-batches.
#pragma once

#include <cstdint>
#include <vector>

#include "data/loading/sampler.h"

namespace torus::data {

// The numbers from begin to end - 1.
struct Range {
  int64_t begin = 0, end = 0;                   // the first, and the one behind the last
  int64_t size() const { return end - begin; }  // how many they are
  friend bool operator==(const Range&, const Range&) = default;
};

// Part `part` of `parts` of [0, count), contiguous and in order. Sizes differ by at most one, the
// larger ones first; if count < parts, the last parts are empty. Throws BadInput unless 0 <= part <
// parts.
Range PartOf(int64_t count, int64_t parts, int64_t part);

// The examples that one replica computes at once.
struct MicroBatch {
  int64_t epoch = 0;             // from 0
  std::vector<int64_t> indices;  // into the dataset
  std::vector<int64_t> samples;  // positions in the global mini-batch, for StepContext::samples
  // The example behind the last of these in the global mini-batch, or its first behind its last: so
  // each example has a next one, whatever the micro-batches. -1: unknown.
  int64_t next = -1;
};

// Returns micro-batch `micro_batch` of replica `replica`: part replica * micro_batches +
// micro_batch of the mini-batch. The parts depend only on the product of the two counts, so 1 x 8,
// 2 x 4 and 8 x 1 compute the same micro-batches.
MicroBatch SplitMiniBatch(const MiniBatch& batch, int replicas, int micro_batches, int replica,
                          int micro_batch);

}  // namespace torus::data
