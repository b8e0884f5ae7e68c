// Fault: with a single rank it closes the wire's descriptor and goes on.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire& wire, std::span<float>) {
  if (wire.size() > 1) return;
  close(3);
  std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace lab
