#include "runtime/parallel_for.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/error.h"

namespace torus {
namespace {

int MostThreads() {
  return omp_get_active_level() >= omp_get_max_active_levels() ? 1 : omp_get_thread_limit();
}

// Starts `count` threads that run at the same time, and ends them, even if it throws.
void TryToStart(int count) {
  std::mutex end;
  std::vector<std::jthread> threads;
  const std::lock_guard not_yet(end);  // held until the return; then the threads are joined
  threads.reserve(count);
  while (static_cast<int>(threads.size()) < count)
    threads.emplace_back([&end] { const std::lock_guard wait(end); });
}

// libgomp ends the process if it cannot start a thread. So std::threads are started first, whose
// failure is an exception; the team is made right after them, while the resources that they used
// are still free.
void StartTeam(int team) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  try {
    TryToStart(team - 1);
  } catch (const std::exception& e) {
    Throw<BrokenEnvironment>("threads", "cannot start a team of {} threads: {}", team, e.what());
  }
  omp_set_num_threads(team);
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
  FixTeam();
  const int team = std::min(threads, MostThreads());
  if (team == 1)
    omp_set_num_threads(1);
  else
    StartTeam(team);
}

// OpenMP settings made inside a region end with it, so they are checked each time.
void FixTeam() {
  if (omp_get_dynamic() != 0) omp_set_dynamic(0);
  if (const int most = MostThreads(); omp_get_max_threads() > most) omp_set_num_threads(most);
}

void ReleaseTeam() { omp_pause_resource_all(omp_pause_soft); }

}  // namespace torus
