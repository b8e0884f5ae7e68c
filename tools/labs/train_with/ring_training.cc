#include "tools/labs/train_with/ring_training.h"

#include <cstdlib>
#include <memory>

#include "parallel/link/link_table.h"
#include "parallel/transport/emulated_link.h"
#include "runtime/error.h"
#include "tools/labs/train_with/ring_transport.h"

namespace torus::tools::labs {
namespace {

using Callbacks = std::function<recipes::RunCallbacks(const std::string& what)>;
using parallel::Transport;

void RequireAlone(const char* flag, int64_t value) {
  Require(value == 1, "ring", "sums over replicas of the whole model: {} must be 1, got {}", flag,
          value);
}

recipes::RunOptions Into(const recipes::RunOptions& options, const std::string& name,
                         const std::string& collectives) {
  recipes::RunOptions run = options;
  run.out = options.out + "/" + name;
  run.settings.collectives = collectives;
  return run;
}

// A ring over emulated links has them below it, where its messages go.
recipes::RunOptions WithRing(recipes::RunOptions run, const RingLibrary& ring,
                             std::vector<RingCounts>& counts, SumCheck& check) {
  std::optional<parallel::LinkTable> links;
  if (!run.links.empty()) links = parallel::ParseLinks(run.links);
  run.links.clear();
  run.wrap_transport = [links, &ring, &counts, &check, seed = run.settings.seed](Transport& inner) {
    std::unique_ptr<Transport> link;
    if (links) link = std::make_unique<parallel::EmulatedLink>(inner, *links, seed);
    RingCounts& own = counts.at(static_cast<size_t>(inner.rank()));
    return std::make_unique<RingTransport>(inner, std::move(link), ring.function(inner.rank()), own,
                                           check);
  };
  return run;
}

// Whether it came to its end.
bool RunRing(const recipes::RunOptions& options, const RingLibrary& ring,
             const Callbacks& callbacks, RingTraining& training) {
  SumCheck check(ring.ranks());
  const recipes::RunOptions run =
      WithRing(Into(options, "ring", "engine"), ring, training.counts, check);
  recipes::RunCallbacks calls = callbacks("with your ring");
  const auto on_step = calls.on_step;
  calls.on_step = [&](const parallel::StepReport& step) {
    training.steps = step.step + 1;
    if (on_step) on_step(step);
  };
  training.ring = run.out;
  bool finished = true;
  try {
    finished = recipes::Run(run, calls).finished;
  } catch (const parallel::TooManySkipped& error) {
    training.gave_up = error.what();
  }
  training.wrong_sum = check.Finding();
  return finished;
}

}  // namespace

void RequireRun(const recipes::RunOptions& options) {
  const recipes::Settings& s = options.settings;
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK"})
    Require(std::getenv(variable) == nullptr, "ring",
            "trains with threads of one process: it is not started by mpirun or srun");
  Require(s.device == "cpu", "ring", "sums in the CPU's memory: --device must be cpu, got {}",
          s.device);
  Require(s.replicas >= 2, "ring", "needs at least two: --replicas must be 2 or more, got {}",
          s.replicas);
  RequireAlone("--stages", s.stages);
  RequireAlone("--tensor", s.tensor);
  Require(s.strategy == "ddp", "ring", "all-reduces gradients: --strategy must be ddp, got {}",
          s.strategy);
  Require(s.collectives == "auto", "ring",
          "takes the place of --collectives, which must not be given, got {}", s.collectives);
  Require(!s.reproducible, "ring",
          "adds in an order of its own, and --reproducible wants another: give one of the two");
  Require(s.codec_gradients == "none", "ring",
          "sums f32 values as they are: --codec-gradients must be none, got {}", s.codec_gradients);
  Require(options.resume.empty(), "ring", "begins a new run, got --resume {}", options.resume);
}

std::optional<RingTraining> TrainWithRing(const recipes::RunOptions& options,
                                          const RingLibrary& ring, const Callbacks& callbacks) {
  RequireRun(options);
  const auto run = [&](const char* name, const char* collectives, const char* what) {
    return recipes::Run(Into(options, name, collectives), callbacks(what)).finished;
  };
  RingTraining training{.counts = std::vector<RingCounts>(ring.ranks())};
  if (!RunRing(options, ring, callbacks, training)) return std::nullopt;
  if (!run("own", "ring", "with the trainer's own ring")) return std::nullopt;
  training.own = options.out + "/own";
  if (!training.gave_up.empty()) return training;
  training.difference = DifferenceOfWeights(training.ring, training.own);
  if (training.difference.largest == 0 || !training.wrong_sum.empty()) return training;
  if (!run("other_order", "direct", "with the sums in another order")) return std::nullopt;
  training.other_order = DifferenceOfWeights(options.out + "/other_order", training.own);
  return training;
}

}  // namespace torus::tools::labs
