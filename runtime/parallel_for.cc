#include "runtime/parallel_for.h"

#include "runtime/error.h"

namespace torus {

int TeamSize() { return omp_get_max_threads(); }

void SetTeamSize(int threads) {
  Require(threads >= 1, "threads", "a team needs at least 1 thread, got {}", threads);
  omp_set_num_threads(threads);
}

}  // namespace torus
