// Run: a whole training run as one call, from settings to the folder that it leaves. tools/train is
// a command line around it.
//
//   recipes::Run({.settings = {.model = "resnet18", .data = "cifar10"}, .out = "runs/a"},
//                {.on_step = [](const parallel::StepReport& step) { ... }});
//
// The folder holds the checkpoint, metrics.jsonl, the same for TensorBoard, summary.json,
// trace.json, report.html and where it applies the exported model (run_folder.h). A run that is
// resumed ends in the bits of one that never stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "parallel/trainer/trainer.h"
#include "parallel/transport/world.h"
#include "recipes/settings/settings.h"

namespace torus::parallel {
class NcclLibrary;
}

namespace torus::recipes {

struct RunOptions {
  Settings settings;          // of a resumed run its own: LoadRun(resume).settings
  std::string out;            // the run's folder; empty: that of `resume`, else a new one in `runs`
  std::string runs = "runs";  // there it is called MODEL-DATA-DATE-TIME
  std::string resume;         // the folder of a run to go on with, or its checkpoint folder
  int64_t max_steps = 0;      // in all, also within an epoch; 0: no limit but the epochs
  int64_t checkpoint_every = 0;  // steps; 0: at the end of each epoch
  int64_t eval_every = 0;        // steps between evaluations; 0: at the end of each epoch
  uint64_t memory_limit = 0;  // bytes that tensors may take in all, of a CPU's memory and of each
                              // GPU's; 0: the allocators' own limits
  // What `--cut auto` may let each rank of a pipeline hold, in bytes: one for all, or one for each.
  // Empty: any. It plans by these and the links; nothing holds the ranks to it. Not stored.
  std::vector<uint64_t> rank_memory;
  double timeout = 60;   // seconds without progress until a wait fails
  int max_skipped = 10;  // steps in a row that may not be finite
  // Whether steps on a GPU are launched as CUDA graphs: auto, on or off. No bit of a
  // run depends on it. Not stored.
  std::string cuda_graphs = "auto";
  // Emulated links between ranks (parallel/link/link_table.h says how they are written), slower
  // than those that there are: they change times alone. Empty: none. Not stored with the run.
  std::vector<std::string> links;
  // Of a test's or an application's own: wraps what each rank sends through, as
  // TrainerOptions::wrap_transport. Its engine is what `settings.collectives` "engine" then means.
  // Not beside `links`. Not stored.
  std::function<std::unique_ptr<parallel::Transport>(parallel::Transport&)> wrap_transport;
  // Checkpoints to keep, the latest ones: RUN/checkpoint and those in RUN/earlier. Besides, the
  // best by the test figure is kept in RUN/best.
  int64_t keep = 2;

  // An application's own codec and schedule; `settings` then have only what they are called in the
  // run's files. Empty: those that the settings name.
  std::function<std::unique_ptr<parallel::Codec>()> codec;
  parallel::ScheduleGenerator schedule;
  // What moves GPUs' memory where Settings::gpu_links lets NCCL do so; outlives the run. Null: NCCL
  // itself, in a build that has it.
  parallel::NcclLibrary* nccl = nullptr;
};

// Where a run stands when its first step is about to begin.
struct RunStart {
  std::string folder;
  std::string title;           // "MobileNetV2 on Fashion-MNIST"
  std::string unit;            // what samples are called: "images"
  int64_t begin = 0, end = 0;  // steps to run
  int64_t steps_per_epoch = 1;
};

// The model on the test set.
struct Evaluation {
  int64_t step = 0;  // mini-batches done
  double epoch = 0;
  int64_t samples = 0;
  double loss = 0;                 // mean over the samples
  std::optional<double> accuracy;  // from 0 to 1; none of a language model
};

// What a run tells while it goes on. Empty ones are left out; what they throw ends the run.
struct RunCallbacks {
  std::function<void(const RunStart&)> on_start;
  // In order; on some rank's thread, one at a time. All others come on the caller's thread.
  std::function<void(const parallel::StepReport&)> on_step;
  std::function<void(const Evaluation&)> on_evaluate;
  std::function<void(const std::string& line)> on_message;  // what a person should know
  // Asked before each step and each batch of an evaluation, on any thread. True ends the run in
  // order: its checkpoint is written.
  std::function<bool()> stop;
};

struct RunResult {
  std::string folder;
  bool finished = true;            // false: `stop` ended it
  int64_t step = 0;                // mini-batches done since the run began
  std::optional<Evaluation> test;  // the last
  nlohmann::json summary;          // as summary.json has it
  std::string model;               // what ExportModel wrote; empty for nothing
};

// Over processes, of which each has a rank, all of them call the following together with the same
// options and a `world` of as many ranks as the settings make. That of rank 0 alone prints, asks
// `stop` and writes what is of the whole run; theirs is a result without summary. The folder must
// be one that all of them can write and see, which is tried before the first step: checkpoints are
// written by those who have the tensors. Without a world the ranks are threads of this process.
//
// BadInput and BrokenEnvironment before the first step for all that can be wrong with settings,
// data and files. An error afterwards leaves the folder with all that there is, summary, trace and
// report too: the errors of the trainer, of which TooManySkipped (trainer.h) leaves the last
// weights that were finite in the checkpoint.
RunResult Run(const RunOptions& options, const RunCallbacks& callbacks = {},
              parallel::World* world = nullptr);

// The test set alone, with the weights of `settings.init` or of the run to resume. None where
// `stop` ended it.
std::optional<Evaluation> EvaluateRun(const RunOptions& options, const RunCallbacks& callbacks = {},
                                      parallel::World* world = nullptr);

}  // namespace torus::recipes
