// A run that fails, and what its message must say.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "parallel/transport/run_ranks.h"
#include "runtime/progress.h"
#include "tests/parallel/trainer/toy_model.h"
#include "tests/testing/deadline.h"

namespace torus::parallel::testing {

using ::torus::testing::kNoTimeout, ::torus::testing::kSlowTimeout, ::torus::testing::kTimeout,
    ::torus::testing::StartAll, ::torus::testing::WorkSlowly;

inline constexpr int64_t kFaultStep = 2;

// Shows no sign of life until the run has been aborted.
inline void StandStill() {
  while (!CurrentProgress()->watched) std::this_thread::sleep_for(std::chrono::milliseconds(1));
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

// For a death test of a run whose thread is left behind: a process that ends at once, with 1 and
// what StuckRank says. Any other error is the test's failure.
inline void EndAtStuckRank(const ToyRun& run) {
  try {
    Trainer trainer(run.options, run.Parts());
    trainer.Train(kFaultStep + 3, run.Batches());
  } catch (const StuckRank& stuck) {
    std::fputs(stuck.what(), stderr);
    _exit(1);
  }
}

using Failures = std::vector<std::shared_future<std::string>>;

// Begins a run of its own for each case, all at the same time. Messages in the order of the cases.
template <class Case, class MakeRun>
Failures StartAllUntilFailure(const std::vector<Case>& cases, const MakeRun& make_run) {
  return StartAll(cases, [=](const Case& one) { return RunUntilFailure(make_run(one)); });
}

inline void ExpectSays(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "\"" << part << "\" is not in: " << message;
}

}  // namespace torus::parallel::testing
