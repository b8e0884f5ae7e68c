// The second step of SampledStatistics: one pass that counts the values in each region of Brackets
// and gathers those of the even-numbered regions. Highway picks the vector width.
#pragma once

#include <cstdint>
#include <span>

namespace torus::parallel {

inline constexpr int64_t kGatherBlock = 2048;  // values
inline constexpr int64_t kGatherSlack = 64;    // may be overwritten after the last gathered value

struct Gathered {
  float* values = nullptr;  // capacity: `room` + kGatherSlack
  uint32_t* indices = nullptr;
  int64_t room = 0, count = 0;
  bool finite = true;
  bool fits = true;  // if false, `room` was too small and the results are invalid
};

// For values in[begin ... end), divided into blocks of kGatherBlock: sets at_least[block *
// thresholds.size() + i] to the number of the block's values that are at least threshold i, and
// appends the values of even-numbered regions to `gathered`, in ascending order of index. The
// number of thresholds is a multiple of four, at most Brackets::kMostThresholds.
void CountAndGather(const float* in, int64_t begin, int64_t end, std::span<const float> thresholds,
                    uint32_t* at_least, Gathered& gathered);

}  // namespace torus::parallel
