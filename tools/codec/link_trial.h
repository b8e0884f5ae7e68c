// Whether a codec saves time on a link of a given speed: computed, and measured over an emulated
// link.
#pragma once

#include <string>
#include <vector>

#include "parallel/link/link_table.h"
#include "tools/codec/measure.h"

namespace torus::tools {

inline constexpr int kTrialMicroBatches = 16;
inline constexpr int64_t kTrialSide = 512;  // a micro-batch has as many rows, and columns

// Seconds for kTrialMicroBatches micro-batches to cross a link, each sent after the one before it
// has arrived. `plain` is without a codec, in float32; `coded` is encoded, sent and decoded, one
// after the other. Both are measured over EmulatedLink between two threads. `..._computed` follow
// from the codec's times and the number of bytes.
struct LinkTrial {
  std::string codec;
  double bits_per_second = 0;
  double plain = 0, coded = 0;
  double plain_computed = 0, coded_computed = 0;

  bool pays() const { return coded < plain; }
  bool pays_computed() const { return coded_computed < plain_computed; }
};

// A micro-batch of the tensors' values, concatenated, and repeated from the beginning if there are
// too few. Throws BadInput if there are none.
Tensor TrialMicroBatch(const std::vector<NamedTensor>& tensors);

// The link of a trial: from rank 0 to rank 1, with this bandwidth and no latency.
parallel::LinkTable TrialLink(double bits_per_second);

// Runs a trial at each speed. Each end has half of the caller's team, and so has the codec where it
// is measured alone. `repeats` is as in MeasureCodec; of the runs over links, too, the fastest
// counts. Throws BadInput if the codec refuses the values.
std::vector<LinkTrial> TryLinks(const std::string& codec, const Tensor& micro_batch,
                                const std::vector<double>& bits_per_second, int repeats);

// A line of headings and one for each trial, then how many trials had the computed outcome.
std::string TextOf(const std::vector<LinkTrial>& trials);

}  // namespace torus::tools
