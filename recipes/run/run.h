// Run: a whole training run in one call, from settings to the folder that it leaves. tools/train is
// its command line.
//
//   recipes::Run({.settings = {.model = "resnet18", .data = "cifar10"}, .out = "runs/a"},
//                {.on_step = [](const parallel::StepReport& step) { ... }});
//
// The folder holds the checkpoint, metrics.jsonl, the same metrics for TensorBoard, summary.json,
// trace.json, report.html and, if there is one, the exported model (run_folder.h). A resumed run
// ends with the same bits as one that never stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "parallel/trainer/trainer.h"
#include "parallel/transport/world.h"
#include "recipes/run/text_speed.h"
#include "recipes/settings/settings.h"
#include "runtime/error.h"

namespace torus::parallel {
class LinkTime;
class NcclLibrary;
}  // namespace torus::parallel

namespace torus::recipes {

// The settings of a run, and what is not stored with it.
struct RunOptions {
  Settings settings = {};     // to resume a run: LoadRun(resume).settings
  std::string out = {};       // the run's folder; empty: that of `resume`, else a new one in `runs`
  std::string runs = "runs";  // there it is called MODEL-DATA-DATE-TIME
  std::string resume = {};    // the folder of a run to resume, or of one of its checkpoints
  int64_t max_steps = 0;      // in all; may end within an epoch; 0: no limit but the epochs
  int64_t checkpoint_every = 0;  // steps; 0: at the end of each epoch
  int64_t eval_every = 0;        // steps between evaluations; 0: at the end of each epoch
  // Bytes that this run's tensors may take in all, in the CPU's memory and in each GPU's; 0: no
  // limit but the allocators' own (runtime/allocator.h), which hold for all of the process.
  uint64_t memory_limit = 0;
  // Bytes that `--cut auto` may plan for each rank of a pipeline: one number for all, or one for
  // each. Empty: no limit. Only the choice of cuts uses them; nothing enforces them later. Not
  // stored.
  std::vector<uint64_t> rank_memory = {};
  double timeout = 60;   // seconds without progress until a wait fails
  double grace = 30;     // TrainerOptions::grace. Not stored
  int max_skipped = 10;  // consecutive non-finite steps that are tolerated
  // Whether steps on a GPU are launched as CUDA graphs: auto, on or off. The results have the same
  // bits either way. Not stored.
  std::string cuda_graphs = "auto";
  // On GPUs: the choices among proposals of cuBLASLt and cuDNN with which a new run begins: a file
  // (plans_file.h) for all ranks, or the folder of a run with those of each rank. A resumed run
  // takes those in its folder; "none": it does not. Not stored: they are copied to the run's
  // folder.
  std::string plans = {};
  // Measures the parts of a step on a GPU with the work that they launch, for a breakdown of its
  // time (TrainerOptions::times_gpu_work). Not stored.
  bool times_gpu_work = false;
  // For tests and applications: wraps each rank's transport, as TrainerOptions::wrap_transport
  // does. The wrapper's engine is then what `settings.collectives` "engine" means. Cannot be
  // combined with `settings.links`. Not stored.
  std::function<std::unique_ptr<parallel::Transport>(parallel::Transport&)> wrap_transport = {};
  // For tests: the clock of emulated links (`settings.links`); must outlive the run. Null: the
  // steady one.
  const parallel::LinkTime* link_time = nullptr;
  // How many of the latest checkpoints to keep: RUN/checkpoint and those in RUN/earlier. The best
  // one (Settings::best) is kept in RUN/best besides.
  int64_t keep = 2;

  // The learning rate of each step, from 0, instead of those by `settings`. Empty: those. Not
  // stored.
  std::function<double(int64_t step)> learning_rate = {};
  // An application's own schedule; `settings` then hold only its name for the run's files. Empty:
  // the one that the settings name. (A codec of its own it adds by parallel::RegisterCodec.)
  parallel::ScheduleGenerator schedule = {};
  // Replaces NCCL wherever Settings::gpu_links allows NCCL; must outlive the run. Null: NCCL
  // itself, in a build that has it.
  parallel::NcclLibrary* nccl = nullptr;
};

// The state of a run just before its first step.
struct RunStart {
  std::string folder;           // of the run
  std::string title;            // "MobileNetV2 on Fashion-MNIST"
  std::string unit;             // what samples are called: "images"
  int64_t begin = 0, end = 0;   // steps to run
  int64_t steps_per_epoch = 1;  // mini-batches of an epoch
  TextSpeed text{};  // of a sample; with ranks in several processes its peak is not known
};

// The result of the model on a part of the data.
struct Evaluation {
  std::string part = "test";       // or "validation"
  int64_t step = 0;                // mini-batches done
  double epoch = 0;                // epochs done, with fractions
  int64_t samples = 0;             // that counted
  double loss = 0;                 // mean over the samples; not finite: there is no score
  std::optional<double> accuracy;  // from 0 to 1, or NaN; none for a language model
};

// Thrown at the end of a run, when its files are written, if the loss of its last evaluation is not
// finite; and by EvaluateRun for such a loss.
class NoScore : public BadInput {
 public:
  using BadInput::BadInput;
};

// Called while a run goes on. Each may be empty. An exception from one of them ends the run.
struct RunCallbacks {
  std::function<void(const RunStart&)> on_start = {};  // before the first step
  // Called in the order of the steps, on some rank's thread, one call at a time. All others but
  // `stop` are called on the caller's thread.
  std::function<void(const parallel::StepReport&)> on_step = {};
  std::function<void(const Evaluation&)> on_evaluate = {};       // with its result
  std::function<void(const std::string& line)> on_message = {};  // a message for the user
  // Called before each step and each batch of an evaluation, on any thread. True ends the run in an
  // orderly way: the checkpoint is written.
  std::function<bool()> stop = {};
  // The same from any thread: a requested stop ends the run.
  std::stop_token stop_token = {};
};

// How a run ended, and where its files are.
struct RunResult {
  std::string folder;                    // of the run
  bool finished = true;                  // false: `stop` ended it
  int64_t step = 0;                      // mini-batches done since the run began
  std::optional<Evaluation> test;        // the last
  std::optional<Evaluation> validation;  // the last
  std::string summary;                   // the text of summary.json
  std::string model;                     // what ExportModel wrote; empty for nothing
};

// The text that tools/train prints at the end of a run, a dozen lines.
std::string SummaryText(const RunResult& result);

// Any number of runs may go on in a process at the same time, each on a thread of its own: each has
// its own memory limit and peak (held bytes are the process's), trace and plans. Nothing is printed
// and no signal is caught; all threads have ended when a run returns or throws.
//
// But for StuckRank (parallel/transport/run_ranks.h): a thread that does not come back from what it
// is in, such as a read of a dead file server or a callback, is left behind with all that the run
// has made, which stays in memory until the process ends. So does the lock on the run's folder; a
// new folder can be trained in. What `options` and `callbacks` refer to must stay valid then.
//
// Without a `world` the ranks are threads of this process. If each rank is a process, all processes
// call the following functions together, with the same options and a `world` of as many ranks as
// the settings require. Only the process of rank 0 prints, calls `stop` and writes the files of the
// whole run; the others return a result without summary. All processes must be able to write to the
// same folder, since each rank writes its own tensors to the checkpoints; this is tested before the
// first step.
//
// Throws BadInput or BrokenEnvironment before the first step for all that can be wrong with
// settings, data and files. Later it throws the trainer's errors; the folder then holds everything
// up to that point, including summary, trace and report. An evaluation whose loss is not finite is
// no score: no checkpoint is the best by it, and if it is the last, Run throws NoScore. After
// TooManySkipped (trainer.h) the
// checkpoint holds the last finite weights.
RunResult Run(const RunOptions& options, const RunCallbacks& callbacks = {},
              parallel::World* world = nullptr);

// Only evaluates on the test set, with the weights of `settings.init` or of the run to resume.
// Returns none if `stop` ended it.
std::optional<Evaluation> EvaluateRun(const RunOptions& options, const RunCallbacks& callbacks = {},
                                      parallel::World* world = nullptr);

}  // namespace torus::recipes
