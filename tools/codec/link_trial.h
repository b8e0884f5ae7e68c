// Whether a codec pays over a link of some speed: computed, and tried over an emulated link.
#pragma once

#include <string>
#include <vector>

#include "tools/codec/measure.h"

namespace torus::tools {

inline constexpr int kTrialMicroBatches = 16;
inline constexpr int64_t kTrialSide = 512;  // a micro-batch has as many rows, and columns

// Seconds in which kTrialMicroBatches micro-batches went over a link, each when the one before had
// come through: as float32, and encoded, sent and decoded, one after the other. `plain`, `coded`:
// of a run over EmulatedLink between two threads; `..._computed`: from the codec's own times and
// the bytes.
struct LinkTrial {
  std::string codec;
  double bits_per_second = 0;
  double plain = 0, coded = 0;
  double plain_computed = 0, coded_computed = 0;

  bool pays() const { return coded < plain; }
  bool pays_computed() const { return coded_computed < plain_computed; }
};

// Of the tensors' values one behind the other, from the beginning again where they are too few: a
// micro-batch. BadInput without any.
Tensor TrialMicroBatch(const std::vector<NamedTensor>& tensors);

// A trial at each speed, on as many threads as the caller's team has. `repeats` as MeasureCodec's;
// of the runs over links, too, the fastest counts. BadInput where the codec cannot carry the
// values.
std::vector<LinkTrial> TryLinks(const std::string& codec, const Tensor& micro_batch,
                                const std::vector<double>& bits_per_second, int repeats);

// A line of titles and one for each trial; behind them how many came out as computed.
std::string TextOf(const std::vector<LinkTrial>& trials);

}  // namespace torus::tools
