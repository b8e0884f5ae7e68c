// Arrivals: counts the blocks of a grid that arrive in groups (runtime/cuda/arrivals.h). Internal
// to the emulation.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/error.h"

namespace torus::emulated_gpu {

// Of one grid. If an exception ends it, the counters of its groups are cleared.
class Arrivals {
 public:
  // `kernel` must outlive it.
  explicit Arrivals(const std::string& kernel) : kernel_(kernel) {}
  ~Arrivals() {
    for (const auto& [counter, blocks] : open_) *counter = 0;
  }
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  // A block of a group of `blocks` arrives; returns whether it is the last.
  bool Add(uint32_t* counter, uint32_t blocks) {
    TORUS_CHECK(*counter < blocks, "{}: a counter of {} blocks that arrive holds {}", kernel_,
                blocks, *counter);
    const auto group = open_.try_emplace(counter, blocks).first;
    TORUS_CHECK(group->second == blocks, "{}: of the same group arrive {} blocks and {}", kernel_,
                group->second, blocks);
    if (++*counter < blocks) return false;
    *counter = 0;
    open_.erase(group);
    return true;
  }
  // Throws InternalError if some blocks of a group have not arrived.
  void End() const {
    if (open_.empty()) return;
    const auto& [counter, blocks] = *open_.begin();
    Throw<InternalError>(kernel_, "of {} blocks that a group is to have {} have arrived", blocks,
                         *counter);
  }

 private:
  const std::string& kernel_;
  std::map<uint32_t*, uint32_t> open_;  // the groups of which some blocks have arrived
};

}  // namespace torus::emulated_gpu
