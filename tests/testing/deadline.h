// For tests of waits: timeouts, and slow ranks.
#pragma once

#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "runtime/progress.h"

namespace torus::testing {

// Seconds until a wait fails. kTimeout is for waits that must fail: it is long compared with the
// time for which a busy machine may keep a thread from running (2.5 s was seen with threads on one
// core of two). kSlowTimeout is for waits that take long but must not fail. kNoTimeout is never
// reached.
inline constexpr double kTimeout = 5, kSlowTimeout = 10, kNoTimeout = 600;

// Takes 1.5 kSlowTimeout, and reports progress a hundred times per kSlowTimeout.
inline void WorkSlowly() {
  using Seconds = std::chrono::duration<double>;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < Seconds(1.5 * kSlowTimeout)) {
    std::this_thread::sleep_for(Seconds(kSlowTimeout / 100));
    TickProgress();
  }
}

// Calls f(case) for all cases at the same time, since they mostly wait. Returns the results in the
// order of the cases.
template <class Case, class F>
auto ForAll(const std::vector<Case>& cases, const F& f) {
  std::vector<std::future<decltype(f(cases[0]))>> futures;
  for (const Case& one : cases)
    futures.push_back(std::async(std::launch::async, [&] { return f(one); }));
  std::vector<decltype(f(cases[0]))> results;
  for (auto& future : futures) results.push_back(future.get());
  return results;
}

}  // namespace torus::testing
