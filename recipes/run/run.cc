#include "recipes/run/run.h"

#include <exception>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "parallel/transport/run_ranks.h"
#include "recipes/run/run_processes.h"
#include "recipes/run/summary.h"
#include "recipes/run/training_run.h"
#include "runtime/memory_account.h"
#include "runtime/run_context.h"
#include "runtime/trace.h"

namespace torus::recipes {
namespace {

// Keeps the run for a thread that was left behind (parallel::StuckRank), until the process ends.
void KeepForEver(std::unique_ptr<TrainingRun> run) {
  struct Kept {
    std::mutex mutex;
    std::vector<std::unique_ptr<TrainingRun>> runs;
  };
  static auto* const kept = new Kept;
  const std::lock_guard lock(kept->mutex);
  kept->runs.push_back(std::move(run));
}

// Makes a run, with its own memory account and trace, and returns work(run). A failure in one
// process ends the others.
template <class Work>
auto WithRun(const RunOptions& options, const RunCallbacks& callbacks, bool whole,
             parallel::World* world, const Work& work) try {
  const WithRunContext own(
      {std::make_shared<MemoryAccount>(options.memory_limit), std::make_shared<trace::Recorder>()});
  auto run = std::make_unique<TrainingRun>(options, callbacks, whole, world);
  try {
    run->Begin();
    return work(*run);
  } catch (const parallel::StuckRank&) {
    KeepForEver(std::move(run));
    throw;
  }
} catch (...) {
  RunProcesses(world).Fail(std::current_exception());
  throw;
}

}  // namespace

std::string SummaryText(const RunResult& result) {
  return result.summary.empty() ? "" : ToText(nlohmann::json::parse(result.summary));
}

RunResult Run(const RunOptions& options, const RunCallbacks& callbacks, parallel::World* world) {
  return WithRun(options, callbacks, false, world, [](TrainingRun& run) { return run.Run(); });
}

std::optional<Evaluation> EvaluateRun(const RunOptions& options, const RunCallbacks& callbacks,
                                      parallel::World* world) {
  return WithRun(options, callbacks, true, world,
                 [](TrainingRun& run) { return run.EvaluateOnly(); });
}

}  // namespace torus::recipes
