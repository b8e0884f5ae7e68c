// Fault: crashes after it has printed what clears a terminal.
#include <cstdio>
#include <cstdlib>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) {
  std::puts("\x1b[2J100 of 100 points");
  std::fflush(stdout);
  std::abort();
}

}  // namespace lab
