#include "runtime/parallel_for.h"

#include "runtime/error.h"

namespace torus {

int TeamSize() {
  FixTeam();
  return omp_get_max_threads();
}

void SetTeamSize(int threads) {
  Require(threads >= 1, "threads", "a team needs at least 1 thread, got {}", threads);
  FixTeam();
  omp_set_num_threads(std::min(threads, omp_get_thread_limit()));
}

void FixTeam() {
  thread_local bool fixed = false;
  if (fixed) return;
  fixed = true;
  omp_set_dynamic(0);
  omp_set_num_threads(std::min(omp_get_max_threads(), omp_get_thread_limit()));
}

void ReleaseTeam() { omp_pause_resource_all(omp_pause_soft); }

}  // namespace torus
