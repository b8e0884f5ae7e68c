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

// The message of the failure; empty when there is none.
inline std::string RunUntilFailure(const ToyRun& run) {
  try {
    Trainer trainer(run.options, run.Parts());
    trainer.Train(kFaultStep + 3, run.Batches());
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

// For each case a run of its own, side by side: they wait most of the time. Messages in the order
// of the cases.
template <class Case, class MakeRun>
std::vector<std::string> RunAllUntilFailure(const std::vector<Case>& cases,
                                            const MakeRun& make_run) {
  std::vector<std::future<std::string>> runs;
  for (const Case& one : cases)
    runs.push_back(std::async(std::launch::async, RunUntilFailure, make_run(one)));
  std::vector<std::string> messages;
  for (std::future<std::string>& run : runs) messages.push_back(run.get());
  return messages;
}

inline void ExpectSays(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "\"" << part << "\" is not in: " << message;
}

}  // namespace torus::parallel::testing
