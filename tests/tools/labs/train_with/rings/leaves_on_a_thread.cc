// Fault: ends the program on a thread of its own.
#include <cstdlib>
#include <thread>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) {
  std::thread([] { std::exit(0); }).join();
}

}  // namespace lab
