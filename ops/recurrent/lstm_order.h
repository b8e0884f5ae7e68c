// In which order a recurrent layer takes its steps, and where the states between them lie.
#pragma once

#include <cstdint>

namespace torus::ops {

// A step's place in tensors of all steps. Those of states have one more entry, the initial state,
// at the end from which the layer starts: so the states before all steps lie together, and so do
// those behind them.
struct LstmPlaceInTime {
  int64_t time;           // the index of its input and of its output
  int64_t before, after;  // of the states
};

// Of the step that `count` steps take as number `i`, from the last to the first if `reverse`.
inline LstmPlaceInTime LstmPlaceOf(int64_t i, int64_t count, bool reverse) {
  const int64_t time = reverse ? count - 1 - i : i;
  return reverse ? LstmPlaceInTime{time, time + 1, time} : LstmPlaceInTime{time, time, time + 1};
}

}  // namespace torus::ops
