// The second step of SampledStatistics: one pass that counts the values of each region of Brackets
// and gathers those of every second one. Highway picks the vector width.
#pragma once

#include <cstdint>
#include <span>

namespace torus::parallel {

inline constexpr int64_t kGatherBlock = 2048;  // values
inline constexpr int64_t kGatherSlack = 64;    // written behind the last one gathered

struct Gathered {
  float* values = nullptr;  // room for `room` and kGatherSlack more
  uint32_t* indices = nullptr;
  int64_t room = 0, count = 0;
  bool finite = true;
  bool fits = true;  // otherwise it ended for want of room, and the rest means nothing
};

// Of values in[begin ... end): at_least[block * thresholds.size() + i], the number of those of the
// block, counted from `begin`, that are at least threshold i; and in ascending order of index, in
// `gathered`, those of regions of even number. The number of thresholds is a multiple of four up to
// Brackets::kMostThresholds.
void CountAndGather(const float* in, int64_t begin, int64_t end, std::span<const float> thresholds,
                    uint32_t* at_least, Gathered& gathered);

}  // namespace torus::parallel
