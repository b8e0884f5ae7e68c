// Fault: gives the work to another process, which would stay behind.
#include <sys/types.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) {
  bool ran = false;
  std::thread([&] { ran = true; }).join();
  if (!ran) throw std::runtime_error("no thread");
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child < 0) throw std::runtime_error("no process");
}

}  // namespace lab
