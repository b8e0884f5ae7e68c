// The second step of SampledStatistics: one pass that counts the values in each region of Brackets,
// gathers those of the even-numbered regions and finds the least and the greatest. Highway picks
// the vector width.
#pragma once

#include <cstdint>
#include <span>

namespace torus::parallel {

inline constexpr int64_t kGatherBlock = 2048;  // values
inline constexpr int64_t kGatherSlack = 64;    // may be overwritten after the last gathered value

// A value, and the block of kGatherBlock values where it is. -1: no value yet.
struct Extreme {
  float value = 0;
  int64_t block = -1;
};

struct Gathered {
  float* values = nullptr;  // capacity: `room` + kGatherSlack
  uint32_t* indices = nullptr;
  int64_t room = 0, count = 0;
  Extreme least, greatest;  // the first block that has the least, the last with the greatest
  bool finite = true;
  bool fits = true;  // if false, `room` was too small and the results are invalid
};

// For values in[begin ... end), divided into blocks of kGatherBlock: sets at_least[block *
// thresholds.size() + i] to the number of the block's values that are at least threshold i, and
// appends the values of even-numbered regions to `gathered`, in ascending order of index. The
// number of thresholds is one that Brackets pads to.
void CountAndGather(const float* in, int64_t begin, int64_t end, std::span<const float> thresholds,
                    uint32_t* at_least, Gathered& gathered);

}  // namespace torus::parallel
