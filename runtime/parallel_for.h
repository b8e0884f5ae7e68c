// ParallelFor: a thin wrapper around OpenMP, the only thread pool of the process.
//
// Each computing thread (a rank) has its own team size, which oneDNN uses too.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <mutex>

namespace torus {

namespace internal {

// Keeps the first exception thrown in a parallel region. An exception must not leave the region
// itself: that would end the process.
class FirstException {
 public:
  template <class Work>
  void Guard(const Work& work) noexcept {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (first_ == nullptr) first_ = std::current_exception();
    }
  }
  // Call it after the region.
  void Rethrow() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace internal

// The number of threads in the calling thread's team; initially the number of cores (or
// OMP_NUM_THREADS).
int TeamSize();
// Sets the team size of the calling thread only, to at most OMP_THREAD_LIMIT. Throws BadInput below
// 1, and BrokenEnvironment if so many threads cannot be started (the team stays as it was).
void SetTeamSize(int threads);
// Adjusts the calling thread's team to a size that OpenMP really provides: fixed, within the thread
// limit, and 1 inside a parallel region. Call it before oneDNN, which splits its work among the
// promised threads and leaves parts undone if fewer run. TeamSize and SetTeamSize call it too.
void FixTeam();
// Ends the idle threads of the calling thread's team; its next ParallelFor starts new ones. For a
// thread that is about to wait for others. Does nothing inside a region. While the process has more
// OpenMP threads than cores, libgomp lets idle threads sleep instead of spin.
void ReleaseTeam();

// Calls body(begin, end) over disjoint ranges that cover [0, count), at most one range per thread,
// with at least `grain` indices each if `count` allows. The split is static: the same count, grain
// and team size give the same ranges. If bodies throw, the first exception is rethrown after all
// threads have finished.
template <class Body>
void ParallelFor(int64_t count, int64_t grain, const Body& body) {
  const int64_t most = std::max<int64_t>(1, count / std::max<int64_t>(1, grain));
  const int threads = static_cast<int>(std::min<int64_t>(most, TeamSize()));
  if (threads <= 1) {
    if (count > 0) body(int64_t{0}, count);
    return;
  }
  internal::FirstException failure;
#pragma omp parallel num_threads(threads)
  {
    const int64_t team = omp_get_num_threads(), me = omp_get_thread_num();
    const int64_t begin = count * me / team, end = count * (me + 1) / team;
    if (begin < end) failure.Guard([&] { body(begin, end); });
  }
  failure.Rethrow();
}

}  // namespace torus
