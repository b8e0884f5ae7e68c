// The size of a thread's team for as long as a scope lasts.
#pragma once

#include "runtime/parallel_for.h"

namespace torus {

// While it lives, the calling thread's team has so many threads. Errors as of SetTeamSize.
class TeamSizeGuard {
 public:
  explicit TeamSizeGuard(int threads) : before_(TeamSize()) { SetTeamSize(threads); }
  // Not SetTeamSize, which would start the team's threads to see whether it can.
  ~TeamSizeGuard() { omp_set_num_threads(before_); }
  TeamSizeGuard(const TeamSizeGuard&) = delete;
  TeamSizeGuard& operator=(const TeamSizeGuard&) = delete;

 private:
  int before_;
};

}  // namespace torus
