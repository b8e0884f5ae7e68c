#include "recipes/run/training_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>

#include "parallel/codec/make_codec.h"
#include "parallel/link/link_table.h"
#include "parallel/schedule/csv.h"
#include "parallel/transport/emulated_link.h"
#include "recipes/blocks/choose_cuts.h"
#include "recipes/data/left_out.h"
#include "recipes/report/report.h"
#include "recipes/run/check_options.h"
#include "recipes/run/earlier_checkpoints.h"
#include "recipes/run/export_model.h"
#include "recipes/run/run_head.h"
#include "recipes/run/summary.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/io/file.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

parallel::TrainerOptions MakeOptions(const RunOptions& run, const CutChoice& cuts) {
  const Settings& s = run.settings;
  parallel::TrainerOptions options{.stages = static_cast<int>(s.stages),
                                   .chunks = static_cast<int>(s.chunks),
                                   .cuts = cuts.cuts,
                                   .replicas = static_cast<int>(s.replicas),
                                   .micro_batches = static_cast<int>(s.micro_batches),
                                   .schedule = s.schedule,
                                   .collectives = s.collectives,
                                   .threads = static_cast<int>(s.threads),
                                   .timeout = run.timeout,
                                   .seed = s.seed,
                                   .clip_norm = s.clip_norm,
                                   .max_skipped = run.max_skipped,
                                   .ema_decay = s.ema};
  options.codec = run.codec;
  options.generator = run.schedule;
  if (!run.links.empty())
    options.wrap_transport = [links = parallel::ParseLinks(run.links), seed = s.seed](auto& inner) {
      return std::make_unique<parallel::EmulatedLink>(inner, links, seed);
    };
  if (!run.codec && s.codec != "none")
    options.codec = [name = s.codec] { return parallel::MakeCodec(name); };
  return options;
}

// Where the run ends: with its epochs, or before.
int64_t EndOf(const RunOptions& options, int64_t steps_per_epoch) {
  const int64_t all = steps_per_epoch * options.settings.epochs;
  return options.max_steps > 0 ? std::min(all, options.max_steps) : all;
}

// Empty where nothing failed.
std::string MessageOf(const std::exception_ptr& failure) {
  if (!failure) return "";
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

RunOptions LimitMemory(RunOptions options) {
  if (options.memory_limit > 0) AllocatorFor({}).SetLimit(options.memory_limit);
  return options;
}

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void WriteText(const std::string& path, const std::string& text) {
  io::OutputFile file(path);
  file.Write(text);
  file.Close(false);
}

}  // namespace

TrainingRun::TrainingRun(const RunOptions& options, const RunCallbacks& callbacks, bool whole)
    : TrainingRun(options, callbacks, whole, Open(options, whole)) {}

// The folder is taken before it is read: what is read then stays the last.
TrainingRun::Start TrainingRun::Open(const RunOptions& options, bool whole) {
  Start start;
  if (options.resume.empty()) return start;
  if (!whole && options.out.empty()) start.own = TakeRunFolder(ExistingRunFolder(options.resume));
  start.resumed = LoadRun(options.resume);
  return start;
}

TrainingRun::TrainingRun(const RunOptions& options, const RunCallbacks& callbacks, bool whole,
                         Start start)
    : options_(LimitMemory(CheckedOptions(options))),
      callbacks_(callbacks),
      task_(options_.settings, start.resumed ? "" : options.settings.init, whole),
      settings_(task_.settings()),
      steps_per_epoch_(task_.steps_per_epoch()),
      cuts_(start.resumed && CutAlike(settings_, start.resumed->settings)
                ? start.resumed->cuts
                : ChooseCuts(settings_, task_.data().form)),
      trainer_(MakeOptions(options_, cuts_), task_.Parts()),
      begin_(start.resumed ? start.resumed->state.step : 0),
      end_(EndOf(options_, steps_per_epoch_)),
      own_(std::move(start.own)),
      note_(start.resumed ? start.resumed->note : "") {
  if (!start.resumed) return;
  if (start.resumed->data && !whole)
    RequireSameData(*start.resumed->data, OrderOf(task_.data()), start.resumed->folder.path);
  trainer_.SetState(start.resumed->state);
  if (own_.lock == nullptr) return;
  if (start.resumed->newest) saved_at_ = begin_;
  best_ = BestTest(folder_);
}

RunResult TrainingRun::Run() {
  if (!options_.out.empty())
    own_ = NewRunFolder(options_.out);
  else if (options_.resume.empty())
    own_ = NewRunFolder(options_.runs, settings_);
  metrics_ = std::make_unique<MetricsFile>(folder_.metrics(), begin_);
  left_out_ = LeftOutNotes(folder_.left_out());
  event_file_ = std::make_unique<EventFile>(folder_.path, SecondsNow(), begin_);
  bool finished = false;
  std::exception_ptr failure;
  try {
    finished = TrainAndTest();
  } catch (...) {
    failure = std::current_exception();
  }
  return Finish(finished, failure);
}

// Whether it came to the end.
bool TrainingRun::TrainAndTest() {
  SayHead();
  // An epoch that ended with its run, or was cut off before its test line was written.
  if (begin_ > 0 && EvaluatesAt(begin_) && !metrics_->HasTest(begin_)) Evaluate();
  TrainAll();
  bool finished = trainer_.step() >= end_;
  if (saved_at_ != trainer_.step()) Save();
  if (finished && !(test_ && test_->step == trainer_.step())) finished = Evaluate();
  return finished;
}

std::optional<Evaluation> TrainingRun::EvaluateOnly() {
  if (!Evaluate()) return std::nullopt;
  SayTruncated();
  return test_;
}

double TrainingRun::EpochOf(int64_t step) const {
  return static_cast<double>(step) / static_cast<double>(steps_per_epoch_);
}

void TrainingRun::Say(const std::string& line) const {
  if (callbacks_.on_message) callbacks_.on_message(line);
}

void TrainingRun::SayHead() {
  if (callbacks_.on_start)
    callbacks_.on_start(
        {folder_.path, task_.title(), task_.data().unit, begin_, end_, steps_per_epoch_});
  for (const std::string& line : RunHead(task_, cuts_)) Say(line);
  if (!note_.empty()) Say(note_);
  if (begin_ > 0) Say(fmt::format("resumed after step {}", begin_));
  Say(fmt::format("into {}", folder_.path));
  SayLeftOut();
  SayTruncated();
}

void TrainingRun::SayTruncated() const {
  if (const std::string& truncated = task_.data().truncated; !truncated.empty()) Say(truncated);
}

// What has not been said yet: an image can turn out bad when it is decoded.
void TrainingRun::SayLeftOut() {
  if (!task_.data().left_out) return;
  if (const std::string line = left_out_.Tell(task_.data().left_out()); !line.empty()) Say(line);
}

// `every` steps, or for 0 at the end of each epoch.
bool TrainingRun::IsDue(int64_t step, int64_t every) const {
  return step % (every > 0 ? every : steps_per_epoch_) == 0;
}

// The next step at which there is more to do than to train.
int64_t TrainingRun::NextPause(int64_t step) const {
  do {
    ++step;
  } while (step < end_ && !SavesAt(step) && !EvaluatesAt(step));
  return step;
}

void TrainingRun::TrainAll() {
  if (trainer_.step() >= end_) return;
  BatchFeed feed(task_.data().train, settings_, trainer_.layout().places(), begin_,
                 options_.timeout);
  while (trainer_.step() < end_ && !Stopped()) TrainUntil(NextPause(trainer_.step()), feed);
}

void TrainingRun::TrainUntil(int64_t end, BatchFeed& feed) try {
  const int64_t skipped = trainer_.totals().skipped_steps;
  trainer_.Train(end, feed.fn(),
                 {.stop = callbacks_.stop,
                  .trace = [this](int64_t step) { return Traced(step); },
                  .on_step = [this](const parallel::StepReport& report) { OnStep(report); }});
  SaySkipped(trainer_.totals().skipped_steps - skipped);
  for (trace::Event& event : trace::Drain()) events_.push_back(std::move(event));
  const int64_t step = trainer_.step();
  if (step < end) return;
  if (SavesAt(step)) Save();
  if (EvaluatesAt(step) || step == end_) Evaluate();
} catch (const parallel::TooManySkipped& error) {
  KeepLastGood();
  throw parallel::TooManySkipped(fmt::format("{}; try a smaller --lr", error.what()));
}

// Where the weights themselves are not finite the checkpoint before stays.
void TrainingRun::KeepLastGood() try {
  if (saved_at_ != trainer_.step()) Save();
} catch (const BadInput&) {
}

void TrainingRun::SaySkipped(int64_t steps) const {
  if (steps > 0)
    Say(fmt::format("skipped {} step{}: their loss or gradients were not finite", steps,
                    steps == 1 ? "" : "s"));
}

// The first steps show how a run begins, those at a distance its steady state, the last its end.
bool TrainingRun::Traced(int64_t step) const {
  constexpr int64_t kFirst = 3, kSteadyFrom = 20, kSteady = 5, kLast = 2;
  const int64_t here = step - begin_;
  return here < kFirst || (here >= kSteadyFrom && here < kSteadyFrom + kSteady) ||
         step >= end_ - kLast;
}

void TrainingRun::OnStep(const parallel::StepReport& report) {
  const auto samples = static_cast<double>(report.samples);
  Json line = {{"kind", "train"},
               {"step", report.step + 1},
               {"epoch", EpochOf(report.step + 1)},
               {"loss", report.loss},
               {"lr", report.learning_rate},
               {"samples", report.samples},
               {"seconds", report.seconds},
               {"samples_per_second", samples / report.seconds},
               {"live_bytes", AllocatorFor({}).stats().live_bytes}};
  if (report.skipped) line["skipped"] = true;
  metrics_->Add(line);
  const Scalar scalars[] = {{"train/loss", report.loss},
                            {"train/learning_rate", report.learning_rate},
                            {"train/samples_per_second", samples / report.seconds}};
  event_file_->Add(SecondsNow(), report.step + 1, scalars);
  if (callbacks_.on_step) callbacks_.on_step(report);
}

void TrainingRun::RecordTest(const parallel::EvaluationResult& score) {
  Json line = {{"kind", "test"}, {"step", test_->step}, {"epoch", test_->epoch}};
  line.update(ScoreJson(score, HasAccuracy()));
  metrics_->Add(line);
  const Scalar scalars[] = {{"test/loss", test_->loss},
                            HasAccuracy() ? Scalar{"test/accuracy", *test_->accuracy}
                                          : Scalar{"test/perplexity", std::exp(test_->loss)}};
  event_file_->Add(SecondsNow(), test_->step, scalars);
}

// False where it was stopped: nothing is known then.
bool TrainingRun::Evaluate() {
  Settings whole = settings_;
  whole.drop_last = false;  // every test example counts
  BatchFeed feed(task_.data().test, whole, trainer_.layout().places(), 0, options_.timeout);
  const parallel::EvaluationResult score =
      trainer_.Evaluate(feed.batches_per_epoch(), feed.fn(), callbacks_.stop);
  if (!score.finished) return false;
  score_ = score;
  test_ = {.step = trainer_.step(),
           .epoch = EpochOf(trainer_.step()),
           .samples = score.samples,
           .loss = score.loss};
  if (HasAccuracy())
    test_->accuracy = static_cast<double>(score.correct) / static_cast<double>(score.samples);
  if (metrics_ && !metrics_->HasTest(test_->step)) RecordTest(score);
  if (callbacks_.on_evaluate) callbacks_.on_evaluate(*test_);
  SayLeftOut();
  if (metrics_) KeepIfBest();
  return true;
}

void TrainingRun::Save() {
  const int64_t step = trainer_.step();
  if (saved_at_ >= 0 && saved_at_ < step && options_.keep > 1) KeepAsEarlier(folder_, saved_at_);
  SaveRun({.folder = folder_,
           .settings = settings_,
           .cuts = cuts_,
           .state = trainer_.State(),
           .data = OrderOf(task_.data())});
  saved_at_ = step;
  RemoveEarlier(folder_, step, options_.keep - 1);
}

void TrainingRun::KeepIfBest() {
  Json test = {{"step", test_->step}, {"epoch", test_->epoch}};
  test.update(ScoreJson(*score_, HasAccuracy()));
  if (!IsBetter(test, best_)) return;
  if (saved_at_ != test_->step) Save();
  KeepAsBest(folder_, test);
  best_ = std::move(test);
}

Json TrainingRun::Summary(bool finished, const std::string& error) const {
  return MakeSummary({.title = task_.title(),
                      .unit = task_.data().unit,
                      .accuracy = HasAccuracy(),
                      .settings = settings_,
                      .cuts = cuts_,
                      .trainer = trainer_,
                      .resumed_from = begin_,
                      .steps_per_epoch = steps_per_epoch_,
                      .finished = finished,
                      .error = error,
                      .test = score_,
                      .memory = AllocatorFor({}).stats()});
}

// Each thing is written whether or not the others can be; the first error is then the run's. The
// model goes first: it is what the run was for.
RunResult TrainingRun::Finish(bool finished, std::exception_ptr failure) {
  RunResult result{
      .folder = folder_.path, .finished = finished, .step = trainer_.step(), .test = test_};
  const auto attempt = [&](const auto& write) {
    try {
      write();
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  };
  if (!failure) attempt([&] { result.model = ExportModel(task_, trainer_, folder_); });
  for (trace::Event& event : trace::Drain()) events_.push_back(std::move(event));
  attempt([&] {
    result.summary = Summary(finished && !failure, MessageOf(failure));
    WriteText(folder_.summary(), result.summary.dump(2) + "\n");
  });
  attempt([&] { WriteText(folder_.schedule(), parallel::ToCsv(trainer_.schedule())); });
  attempt([&] { trace::WriteChromeTrace(events_, folder_.trace()); });
  attempt([&] {
    WriteText(folder_.report(),
              RenderReport({result.summary, metrics_->lines(), events_, trainer_.schedule()}));
  });
  attempt([&] { SayLeftOut(); });
  if (failure) std::rethrow_exception(failure);
  return result;
}

RunResult Run(const RunOptions& options, const RunCallbacks& callbacks) {
  return TrainingRun(options, callbacks, false).Run();
}

std::optional<Evaluation> EvaluateRun(const RunOptions& options, const RunCallbacks& callbacks) {
  return TrainingRun(options, callbacks, true).EvaluateOnly();
}

}  // namespace torus::recipes
