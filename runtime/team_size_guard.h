// Sets the size of a thread's team for a scope.
#pragma once

#include "runtime/parallel_for.h"

namespace torus {

// While it exists, the calling thread's team has `threads` threads. Throws like SetTeamSize.
class TeamSizeGuard {
 public:
  explicit TeamSizeGuard(int threads) : before_(TeamSize()) { SetTeamSize(threads); }
  // Does not use SetTeamSize, which would start threads to test whether it can.
  ~TeamSizeGuard() { omp_set_num_threads(before_); }
  TeamSizeGuard(const TeamSizeGuard&) = delete;
  TeamSizeGuard& operator=(const TeamSizeGuard&) = delete;

 private:
  int before_;
};

}  // namespace torus
