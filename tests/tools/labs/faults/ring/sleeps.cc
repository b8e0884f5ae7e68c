// Fault: sleeps instead of working.
#include <chrono>
#include <thread>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire& wire, std::span<float>) {
  if (wire.size() > 1) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace lab
