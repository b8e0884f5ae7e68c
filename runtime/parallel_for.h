// ParallelFor: a thin wrapper of OpenMP, the one thread pool of the process.
//
// Each thread that computes (a rank) has a team size of its own; oneDNN uses the same one.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <mutex>

namespace torus {

namespace internal {

// The first exception of a region's threads. None may leave the region itself: that would end the
// process.
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
  // To be called behind the region.
  void Rethrow() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace internal

// Threads of the calling thread's team; at first the machine's cores (or OMP_NUM_THREADS).
int TeamSize();
// Sets it for the calling thread alone, to OMP_THREAD_LIMIT where that is smaller. BadInput below
// 1, BrokenEnvironment where so many threads cannot be started (the team stays as it was).
void SetTeamSize(int threads);
// Makes the calling thread's team one that OpenMP grants in full: within its limit, of a fixed
// size, of one thread inside a region. To be called before oneDNN, which splits its work among the
// threads promised and leaves parts undone where fewer come; the functions above do it too.
void FixTeam();
// Ends the threads that wait for the calling one's next ParallelFor, which will start new ones: for
// a thread that is to wait for others; inside a region it does nothing. While the process has more
// OpenMP threads than cores, libgomp puts them to sleep between works instead of letting them spin.
void ReleaseTeam();

// Calls body(begin, end) over disjoint ranges that cover [0, count), one range a thread at most,
// none smaller than `grain` but the last. Static split: the same count, grain and team size give
// the same ranges. Where bodies throw, the first exception is rethrown when all threads have ended.
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
