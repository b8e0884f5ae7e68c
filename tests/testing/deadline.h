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

// Takes 1.2 kSlowTimeout, and reports progress a hundred times per kSlowTimeout.
inline void WorkSlowly() {
  using Seconds = std::chrono::duration<double>;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < Seconds(1.2 * kSlowTimeout)) {
    std::this_thread::sleep_for(Seconds(kSlowTimeout / 100));
    TickProgress();
  }
}

// Whether holds() becomes true within `longest`.
template <class Fn>
bool Eventually(std::chrono::seconds longest, const Fn& holds) {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

// Begins f(case) for all cases at the same time, since they mostly wait. What they return comes in
// the order of the cases.
template <class Case, class F>
auto StartAll(const std::vector<Case>& cases, const F& f) {
  std::vector<std::shared_future<decltype(f(cases[0]))>> futures;
  for (const Case& one : cases)
    futures.push_back(std::async(std::launch::async, [f, one] { return f(one); }).share());
  return futures;
}

}  // namespace torus::testing
