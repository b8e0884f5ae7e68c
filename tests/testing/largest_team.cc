#include "tests/testing/largest_team.h"

#include <dlfcn.h>
#include <omp.h>

#include <algorithm>

namespace {
thread_local int largest = 1;
}

// What gcc makes of a parallel region is a call of it. This program's own stands before libgomp's.
extern "C" void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  using Start = void(void (*)(void*), void*, unsigned, unsigned);
  static Start* const real = reinterpret_cast<Start*>(dlsym(RTLD_NEXT, "GOMP_parallel"));
  const int team = threads == 0 ? omp_get_max_threads() : static_cast<int>(threads);
  largest = std::max(largest, team);
  real(body, data, threads, flags);
}

namespace torus::testing {

int LargestTeamOf(const std::function<void()>& work) {
  largest = 1;
  work();
  return largest;
}

}  // namespace torus::testing
