// For tests of waits: how long they last, and ranks that are slow.
#pragma once

#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "runtime/progress.h"

namespace torus::testing {

// Seconds until a wait fails. Where it must fail, the time is long beside that for which a busy
// machine keeps a thread from running (2.5 s has been seen, of threads of one core of two); where
// it must not although much of it passes, it is twice as long; elsewhere it never comes.
inline constexpr double kTimeout = 5, kSlowTimeout = 10, kNoTimeout = 600;

// Takes one and a half times kSlowTimeout, and shows a sign of life a hundred times in one.
inline void WorkSlowly() {
  using Seconds = std::chrono::duration<double>;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < Seconds(1.5 * kSlowTimeout)) {
    std::this_thread::sleep_for(Seconds(kSlowTimeout / 100));
    TickProgress();
  }
}

// f(case) of all cases, side by side: they wait most of the time. Results in the order of the
// cases.
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
