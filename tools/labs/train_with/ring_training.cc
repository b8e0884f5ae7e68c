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

// What the ranks of a run share, and what each counts.
struct Sums {
  Sums(int ranks, double timeout)
      : counts(static_cast<size_t>(ranks)), check(ranks), watch(timeout) {}
  std::vector<RingCounts> counts;
  SumCheck check;
  CallWatch watch;
};

// A ring over emulated links has them below it, where its messages go. `ring` is null for the
// trainer's own.
recipes::RunOptions WithRing(recipes::RunOptions run, const RingLibrary* ring, Sums& sums) {
  std::optional<parallel::LinkTable> links;
  if (!run.settings.links.empty()) links = parallel::ParseLinks(run.settings.links);
  run.settings.links.clear();
  run.wrap_transport = [links, ring, &sums, seed = run.settings.seed](Transport& inner) {
    std::unique_ptr<Transport> link;
    if (links) link = std::make_unique<parallel::EmulatedLink>(inner, *links, seed);
    return std::make_unique<RingTransport>(inner, std::move(link),
                                           ring == nullptr ? nullptr : ring->function(inner.rank()),
                                           sums.counts.at(static_cast<size_t>(inner.rank())),
                                           RingTransport::Shared{sums.check, sums.watch});
  };
  return run;
}

// Whether it came to its end.
bool RunRing(const recipes::RunOptions& options, const RingLibrary& ring,
             const Callbacks& callbacks, RingTraining& training) {
  Sums sums(ring.ranks(), options.timeout);
  const recipes::RunOptions run = WithRing(Into(options, "ring", "engine"), &ring, sums);
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
  } catch (const recipes::NoScore& error) {
    training.gave_up = error.what();
  }
  training.wrong_sum = sums.check.Finding();
  training.counts = std::move(sums.counts);
  return finished;
}

// Through the same engine as the student's: every step but the ring itself is the same, also its
// roundings.
bool RunOwn(const recipes::RunOptions& options, int ranks, const Callbacks& callbacks) {
  Sums sums(ranks, options.timeout);
  const recipes::RunOptions run = WithRing(Into(options, "own", "engine"), nullptr, sums);
  return recipes::Run(run, callbacks("with the trainer's own ring")).finished;
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
  RingTraining training;
  if (!RunRing(options, ring, callbacks, training)) return std::nullopt;
  if (!RunOwn(options, ring.ranks(), callbacks)) return std::nullopt;
  training.own = options.out + "/own";
  if (!training.gave_up.empty()) return training;
  training.difference = DifferenceOfWeights(training.ring, training.own);
  if (training.difference.largest == 0 || !training.wrong_sum.empty()) return training;
  const recipes::RunOptions other = Into(options, "other_order", "direct");
  if (!recipes::Run(other, callbacks("with the sums in another order")).finished)
    return std::nullopt;
  training.other_order = DifferenceOfWeights(options.out + "/other_order", training.own);
  return training;
}

}  // namespace torus::tools::labs
