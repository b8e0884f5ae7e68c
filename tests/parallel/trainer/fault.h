// A run that fails, and what its message must say.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/parallel/trainer/toy_model.h"

namespace torus::parallel::testing {

inline constexpr double kTimeout = 0.4;
inline constexpr int64_t kFaultStep = 2;

// Longer than the deadline, yet the test can go on after it.
inline void StopForAWhile() {
  std::this_thread::sleep_for(std::chrono::duration<double>(3 * kTimeout));
}

struct Failure {
  std::string message;
  double seconds = 0;
};

inline Failure RunUntilFailure(const ToyRun& run) {
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  try {
    Trainer trainer(run.options, run.Parts());
    trainer.Train(kFaultStep + 3, run.Batches());
  } catch (const std::exception& error) {
    return {error.what(), seconds()};
  }
  return {};
}

// For each case a run of its own, side by side: they wait most of the time. Failures in the order
// of the cases.
template <class Case, class MakeRun>
std::vector<Failure> RunAllUntilFailure(const std::vector<Case>& cases, const MakeRun& make_run) {
  std::vector<std::future<Failure>> runs;
  for (const Case& one : cases)
    runs.push_back(std::async(std::launch::async, RunUntilFailure, make_run(one)));
  std::vector<Failure> failures;
  for (std::future<Failure>& run : runs) failures.push_back(run.get());
  return failures;
}

inline void ExpectSays(const Failure& failure, const std::vector<std::string>& parts) {
  EXPECT_LT(failure.seconds, kTimeout + 10);
  for (const std::string& part : parts)
    EXPECT_NE(failure.message.find(part), std::string::npos)
        << "\"" << part << "\" is not in: " << failure.message;
}

}  // namespace torus::parallel::testing
