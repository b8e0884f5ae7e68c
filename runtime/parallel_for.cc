#include "runtime/parallel_for.h"

#include <mutex>
#include <thread>
#include <vector>

#include "runtime/error.h"

namespace torus {
namespace {

// Starts `count` threads that live at the same time, and ends them. The reason where it cannot.
std::string TryToStart(int count) {
  std::vector<std::thread> threads;
  std::mutex end;
  std::string failure;
  try {
    const std::lock_guard not_yet(end);
    threads.reserve(count);
    while (static_cast<int>(threads.size()) < count)
      threads.emplace_back([&end] { const std::lock_guard wait(end); });
  } catch (const std::exception& e) {
    failure = e.what();
  }
  for (std::thread& thread : threads) thread.join();
  return failure;
}

// libgomp ends the process where it cannot start a thread. So a team is tried with threads of ours
// first, whose lack is an error, and made while what they took is still free.
void StartTeam() {
  const int team = omp_get_max_threads();
  if (team == 1) return;
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (const std::string failure = TryToStart(team - 1); !failure.empty())
    Throw<BrokenEnvironment>("threads", "cannot start a team of {} threads: {}", team, failure);
#pragma omp parallel
  {}
}

}  // namespace

int TeamSize() {
  FixTeam();
  return omp_get_max_threads();
}

void SetTeamSize(int threads) {
  Require(threads >= 1, "threads", "a team needs at least 1 thread, got {}", threads);
  omp_set_num_threads(threads);
  FixTeam();
  StartTeam();
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
