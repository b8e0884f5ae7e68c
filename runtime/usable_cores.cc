#include "runtime/usable_cores.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <array>

namespace torus {

UsableCores CoresOfProcess() {
  std::array<cpu_set_t, 16> cores{};  // Linux has at most 8192 cores, a set 1024
  int64_t first = 0;
  if (::sched_getaffinity(0, sizeof(cores), cores.data()) == 0)
    while (first < 8192 && !CPU_ISSET_S(first, sizeof(cores), cores.data())) ++first;
  // OpenMP counted before it bound this thread (OMP_PROC_BIND).
  return {.count = std::max(1, ::omp_get_num_procs()), .first = first};
}

}  // namespace torus
