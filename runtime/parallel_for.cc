#include "runtime/parallel_for.h"

#include "runtime/error.h"

namespace torus {

int TeamSize() {
  FixTeam();
  return omp_get_max_threads();
}

void SetTeamSize(int threads) {
  Require(threads >= 1, "threads", "a team needs at least 1 thread, got {}", threads);
  omp_set_num_threads(threads);
  FixTeam();
}

// OpenMP's settings end with the region in which they were made, so they are looked at each time.
void FixTeam() {
  if (omp_get_dynamic() != 0) omp_set_dynamic(0);
  const bool nested = omp_get_active_level() >= omp_get_max_active_levels();
  const int most = nested ? 1 : omp_get_thread_limit();
  if (omp_get_max_threads() > most) omp_set_num_threads(most);
}

void ReleaseTeam() { omp_pause_resource_all(omp_pause_soft); }

}  // namespace torus
