// Which cores of its host a process may use.
#pragma once

#include <cstdint>

namespace torus {

struct UsableCores {
  int64_t count;  // at least 1
  int64_t first;  // the lowest number among them
};

// What taskset, mpirun's binding or a batch system leaves to this process.
UsableCores CoresOfProcess();

}  // namespace torus
