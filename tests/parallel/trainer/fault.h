// A run that fails, and what its message must say.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "runtime/progress.h"
#include "tests/parallel/trainer/toy_model.h"

namespace torus::parallel::testing {

// Seconds until a wait fails. Where it must fail, the time is long beside that for which a busy
// machine keeps a thread from running; elsewhere it never comes.
inline constexpr double kTimeout = 2.5, kNoTimeout = 600;
inline constexpr int64_t kFaultStep = 2;

// Shows no sign of life until the run has been aborted.
inline void StandStill() {
  while (!internal::progress->watched) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Takes longer than the deadline, and shows a sign of life a hundred times in one.
inline void WorkSlowly() {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(1.5 * kTimeout)) {
    std::this_thread::sleep_for(std::chrono::duration<double>(kTimeout / 100));
    TickProgress();
  }
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
