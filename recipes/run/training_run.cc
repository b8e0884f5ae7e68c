#include "recipes/run/training_run.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "parallel/data_parallel/strategy_factory.h"
#include "parallel/trainer/checkpoint.h"
#include "parallel/transport/run_ranks.h"
#include "recipes/blocks/auto_cut.h"
#include "recipes/blocks/choose_cuts.h"
#include "recipes/data/left_out.h"
#include "recipes/run/check_options.h"
#include "recipes/run/earlier_checkpoints.h"
#include "recipes/run/make_trainer_options.h"
#include "recipes/run/run_head.h"
#include "recipes/settings/device.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

// Evaluations alone are not part of a run: they take the first proposals.
RunPlansOptions PlansOptions(const RunOptions& run, const std::string& resumed, bool trains) {
  const Settings& s = run.settings;
  if (!trains) return {};
  return {s.autotune, run.plans, resumed, s.tensor > 1 || s.reproducible};
}

// The step at which the run ends: with its epochs, or earlier.
int64_t EndOf(const RunOptions& options, int64_t steps_per_epoch) {
  const int64_t all = steps_per_epoch * options.settings.epochs;
  return options.max_steps > 0 ? std::min(all, options.max_steps) : all;
}

// Whether it continues in the folder of the run that it resumes.
bool GoesOn(const RunOptions& options, bool whole) {
  return !options.resume.empty() && options.out.empty() && !whole;
}

// Requires the same list of micro-batches as in the first run.
void RequireSameList(const StoredRun& run, const Settings& s) {
  const int64_t list = PartsOfBatch(run.settings);
  Require(!s.reproducible || PartsOfBatch(s) == list, "train",
          "--reproducible keeps the list of {} micro-batches with which the run began; --replicas "
          "{} x --micro-batches {} x --accumulate {} make {}",
          list, s.replicas, s.micro_batches, s.accumulate, PartsOfBatch(s));
}

// An allocator does not know what could be smaller.
std::string WithAdvice(const std::string& message) {
  if (message.find("out of memory on") == std::string::npos) return message;
  return message + "; a smaller --batch-size, more --accumulate, or --recompute takes less";
}

// Measures only in the leading process, so that all processes get the same cuts.
CutChoice AgreedCuts(const RunProcesses& processes, const RunOptions& options,
                     const DataForm& form) {
  const auto choose = [&] {
    return ChooseCuts(options.settings, form, {options.schedule, options.rank_memory});
  };
  if (!IsAutoCut(options.settings.cut)) return choose();
  const std::string agreed =
      processes.OfLeader([&] { return ToJson(choose()).dump(); }, "cuts of the model");
  return CutChoiceFromJson(Json::parse(agreed), "rank 0");
}

}  // namespace

TrainingRun::TrainingRun(const RunOptions& options, const RunCallbacks& callbacks, bool whole,
                         parallel::World* world)
    : TrainingRun(options, callbacks, whole, world, RunProcesses(world).Alive([&] {
        return Open(options, whole, RunProcesses(world).leads());
      })) {}

// Locks the folder before reading it, so that what is read stays the newest.
TrainingRun::Start TrainingRun::Open(const RunOptions& options, bool whole, bool leads) {
  Start start;
  if (options.resume.empty()) return start;
  if (leads && GoesOn(options, whole)) start.own = TakeRunFolder(ExistingRunFolder(options.resume));
  start.resumed = LoadRun(options.resume);
  return start;
}

TrainingRun::TrainingRun(const RunOptions& options, const RunCallbacks& callbacks, bool whole,
                         parallel::World* world, Start start)
    : processes_(world),
      agreed_(AgreeOnOptions(world, options, whole)),
      options_(CheckedOptions(agreed_.options)),
      memory_(KindOf(options_.settings.device)),
      callbacks_(processes_.leads() ? callbacks : RunCallbacks()),
      task_(processes_.Alive([&] {
        return Task(options_.settings, start.resumed ? "" : options.settings.init, whole);
      })),
      settings_(task_.settings()),
      steps_per_epoch_(task_.steps_per_epoch()),
      cuts_(start.resumed && CutAlike(settings_, start.resumed->settings)
                ? start.resumed->cuts
                : AgreedCuts(processes_, options_, task_.data().form)),
      gpus_(world, settings_, {options_.timeout, options_.grace, options_.nccl}),
      plans_(PlansOptions(options_, start.resumed ? start.resumed->folder.path : "", !whole)),
      trainer_options_(MakeTrainerOptions(options_, cuts_, gpus_.nccl(), task_, plans_)),
      begin_(start.resumed ? start.resumed->step() : 0),
      end_(EndOf(options_, steps_per_epoch_)),
      own_(std::move(start.own)),
      whole_(whole),
      note_(start.resumed ? start.resumed->note : ""),
      new_rate_(start.resumed ? NewRateLine(task_, start.resumed->settings, begin_) : "") {
  resumed_ = std::move(start.resumed);
}

void TrainingRun::Begin() {
  if (gpus_.world() == nullptr)
    trainer_.emplace(trainer_options_, MakeTrainingParts(task_, options_));
  else
    trainer_.emplace(*gpus_.world(), trainer_options_, MakeTrainingParts(task_, options_));
  const bool engine = !processes_.alone() || gpus_.nccl() || options_.wrap_transport;
  Require(engine || settings_.collectives != "engine", "train",
          "--collectives engine sums as MPI does, which needs processes that mpirun starts, or as "
          "NCCL, which needs --device cuda and a GPU for each rank");
  if (!resumed_) return;
  const ResumedRun run = *std::exchange(resumed_, std::nullopt);
  if (run.data && !whole_) RequireSameData(*run.data, OrderOf(task_.data()), run.folder.path);
  RequireSameList(run, settings_);
  RequireSameCheckpoint(run);
  trainer_->SetState(parallel::SourceOf(*run.checkpoint));
  if (!GoesOn(options_, whole_)) return;
  if (run.newest) saved_at_ = begin_;
  if (processes_.leads()) best_ = BestResult(folder_, chooser().name);
}

RunResult TrainingRun::Run() {
  processes_.Lead([this] { TakeFolder(); });
  ShareFolder();
  if (std::optional<RunResult> left = LeftByEnd()) return std::move(*left);
  processes_.Lead([this] { OpenFiles(); });
  keeps_files_ = true;
  bool finished = false;
  std::exception_ptr failure;
  try {
    finished = TrainAndTest();
  } catch (const parallel::StuckRank&) {
    failure = std::current_exception();
  } catch (const BrokenEnvironment& error) {
    failure = std::make_exception_ptr(BrokenEnvironment(WithAdvice(error.what())));
  } catch (...) {
    failure = std::current_exception();
  }
  return Finish(finished, failure);
}

// All processes write their parts of the checkpoints there.
void TrainingRun::ShareFolder() {
  const auto path = [this] { return std::filesystem::absolute(folder_.path).string(); };
  const std::string shared = processes_.OfLeader(path, "the run's folder");
  if (!processes_.leads()) own_.folder.path = shared;
  trainer_->RequireSharedFolder(folder_.path);
}

// The checkpoint may have been replaced before the leading process locked the folder.
void TrainingRun::RequireSameCheckpoint(const ResumedRun& run) const {
  const auto name = [&run] {
    return fmt::format("commit {}, after step {}", run.checkpoint->manifest().commit, run.step());
  };
  const std::string first = processes_.OfLeader(name, "which checkpoint is gone on with");
  if (first != name())
    Throw<BrokenEnvironment>(run.from, "rank 0 goes on with {}, this process sees {}", first,
                             name());
}

// Returns whether the run reached its end.
bool TrainingRun::TrainAndTest() {
  SayHead();
  // The earlier run ended with an epoch, or was interrupted before it wrote the epoch's test line.
  if (begin_ > 0 && EvaluatesAt(begin_) && LacksFigure()) Evaluate();
  SayIfOutOfPatience();
  TrainAll();
  bool finished = IsAtEnd();
  if (saved_at_ != trainer_->step()) Save();
  if (finished && test_.step != trainer_->step()) finished = Evaluate();
  return finished;
}

// The leading process decides for all.
bool TrainingRun::Agree(const std::function<bool()>& decide, const char* what) const {
  return processes_.OfLeader([&] { return decide() ? "yes" : "no"; }, what) == "yes";
}

double TrainingRun::EpochOf(int64_t step) const {
  return static_cast<double>(step) / static_cast<double>(steps_per_epoch_);
}

void TrainingRun::Say(const std::string& line) const {
  if (callbacks_.on_message) callbacks_.on_message(line);
}

void TrainingRun::SayHead() {
  if (callbacks_.on_start) {
    TextSpeed text = TextSpeedOf(task_);
    if (!processes_.alone()) text.peak_seconds = 0;
    callbacks_.on_start(
        {folder_.path, task_.title(), task_.data().unit, begin_, end_, steps_per_epoch_, text});
  }
  for (const std::string& line : RunHead(task_, cuts_)) Say(line);
  if (!gpus_.line().empty()) Say(gpus_.line() + SumsLine());
  if (!note_.empty()) Say(note_);
  if (begin_ > 0) Say(fmt::format("resumed after step {}", begin_));
  if (!new_rate_.empty()) Say(new_rate_);
  Say(fmt::format("into {}", folder_.path));
  if (const std::string& cache = task_.data().cache; !cache.empty()) Say(cache);
  SayLeftOut();
  SayTruncated();
}

void TrainingRun::SayTruncated() const {
  if (const std::string& truncated = task_.data().truncated; !truncated.empty()) Say(truncated);
}

// For GPUs.
std::string TrainingRun::SumsLine() const {
  const std::string& strategy = settings_.strategy;
  if (settings_.replicas == 1 || !parallel::SumsInBuckets(strategy)) return "";
  const char* const summed = parallel::ExchangesWeights(strategy) ? "weights" : "gradients";
  return trainer_options_.collectives == "engine"
             ? fmt::format("; NCCL sums the replicas' {}", summed)
             : fmt::format("; the replicas' {} are summed in the CPU's memory", summed);
}

// Reports what was not reported yet: a damaged image may be found only when it is decoded.
void TrainingRun::SayLeftOut() {
  const auto tell = [this](LeftOutNotes& notes, const auto& list) {
    if (!list) return;
    if (const std::string line = notes.Tell(list()); !line.empty()) Say(line);
  };
  tell(passed_over_, task_.data().passed_over);
  tell(left_out_, task_.data().left_out);
}

// Every `every` steps, or at the end of each epoch if `every` is 0.
bool TrainingRun::IsDue(int64_t step, int64_t every) const {
  return step % (every > 0 ? every : steps_per_epoch_) == 0;
}

// The next step after which something other than training is due.
int64_t TrainingRun::NextPause(int64_t step) const {
  do {
    ++step;
  } while (step < end_ && !SavesAt(step) && !EvaluatesAt(step));
  return step;
}

std::shared_ptr<BatchFeed> TrainingRun::Feed(const DataPart& part, const Settings& settings,
                                             int64_t first_step) const {
  return std::make_shared<BatchFeed>(part, settings, processes_.LocalPlaces(trainer_->layout()),
                                     first_step, options_.timeout, agreed_.process_threads);
}

void TrainingRun::TrainAll() {
  if (IsAtEnd()) return;
  const parallel::BatchFn batches = BatchFeed::Fn(Feed(task_.data().train, settings_, begin_));
  while (!IsAtEnd() && TrainUntil(NextPause(trainer_->step()), batches)) {
  }
}

bool TrainingRun::Stops() const {
  return callbacks_.stop_token.stop_requested() || (callbacks_.stop && callbacks_.stop());
}

// Returns false if it was stopped.
bool TrainingRun::TrainUntil(int64_t end, const parallel::BatchFn& batches) try {
  const int64_t skipped = trainer_->totals().skipped_steps;
  trainer_->Train(end, batches,
                  {.stop = [this] { return Stops(); },
                   .trace = [this](int64_t step) { return Traced(step); },
                   .on_step = [this](const parallel::StepReport& report) { OnStep(report); }});
  SaySkipped(trainer_->totals().skipped_steps - skipped);
  KeepEvents();
  const int64_t step = trainer_->step();
  if (step < end) return false;
  if (SavesAt(step)) Save();
  return !(EvaluatesAt(step) || step == end_) || Evaluate();
} catch (const parallel::TooManySkipped& error) {
  KeepLastGood();
  throw parallel::TooManySkipped(fmt::format("{}; try a smaller --lr", error.what()));
}

void TrainingRun::SaySkipped(int64_t steps) const {
  if (steps > 0)
    Say(fmt::format("skipped {} step{}: their loss or gradients were not finite", steps,
                    steps == 1 ? "" : "s"));
}

// Traces the first steps, to show how a run begins, some at intervals for its steady state, and the
// last for its end.
bool TrainingRun::Traced(int64_t step) const {
  constexpr int64_t kFirst = 3, kSteadyFrom = 20, kSteady = 5, kLast = 2;
  const int64_t here = step - begin_;
  return here < kFirst || (here >= kSteadyFrom && here < kSteadyFrom + kSteady) ||
         step >= end_ - kLast;
}

}  // namespace torus::recipes
