// Calls the ring. Numbers of the task: how often. Values: this rank's data, which are restored
// before each call.
#include <algorithm>

#include "lab_rank.h"
#include "lab_ring.h"

namespace lab {

std::vector<float> Perform(Rank& rank, const Task& task) {
  std::vector<float> data(task.values.size());
  Metered(rank, task.numbers.at(0), [&](int64_t) {
    std::ranges::copy(task.values, data.begin());
    AllReduceMean(rank, data);
  });
  return data;
}

}  // namespace lab
