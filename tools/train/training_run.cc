#include "tools/train/training_run.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "parallel/codec/make_codec.h"
#include "recipes/data/left_out.h"
#include "recipes/report/report.h"
#include "recipes/report/units.h"
#include "recipes/run/export_model.h"
#include "recipes/run/summary.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "tools/common/user_path.h"
#include "tools/train/stop_signal.h"

namespace torus::tools {
namespace {

using Json = nlohmann::json;

parallel::TrainerOptions MakeOptions(const recipes::Settings& s, double timeout,
                                     const recipes::CutChoice& cuts) {
  parallel::TrainerOptions options{.stages = static_cast<int>(s.stages),
                                   .cuts = cuts.cuts,
                                   .replicas = static_cast<int>(s.replicas),
                                   .micro_batches = static_cast<int>(s.micro_batches),
                                   .schedule = s.schedule,
                                   .threads = static_cast<int>(s.threads),
                                   .timeout = timeout,
                                   .seed = s.seed,
                                   .clip_norm = s.clip_norm,
                                   .ema_decay = s.ema};
  if (s.codec != "none") options.codec = [name = s.codec] { return parallel::MakeCodec(name); };
  return options;
}

// Where the run ends: with its epochs, or before.
int64_t EndOf(const Invocation& invocation, int64_t steps_per_epoch) {
  const int64_t all = steps_per_epoch * invocation.settings.epochs;
  return invocation.max_steps > 0 ? std::min(all, invocation.max_steps) : all;
}

void WriteText(const std::string& path, const std::string& text) {
  io::OutputFile file(path);
  file.Write(text);
  file.Close(false);
}

std::string RunName(const recipes::Settings& settings) {
  std::string name = settings.model + "-" + settings.data;
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

}  // namespace

TrainingRun::TrainingRun(Invocation invocation, std::optional<recipes::ResumedRun> resumed)
    : invocation_(std::move(invocation)),
      task_(invocation_.settings, resumed ? "" : invocation_.settings.init, invocation_.eval_only),
      settings_(task_.settings()),
      steps_per_epoch_(task_.steps_per_epoch()),
      cuts_(resumed ? resumed->cuts : recipes::ChooseCuts(settings_, task_.data().form)),
      trainer_(MakeOptions(settings_, invocation_.timeout, cuts_), task_.Parts()),
      begin_(resumed ? resumed->state.step : 0),
      end_(EndOf(invocation_, steps_per_epoch_)),
      progress_(stdout, task_.data().unit, begin_, end_) {
  if (!resumed) return;
  trainer_.SetState(resumed->state);
  folder_ = resumed->folder;
}

int TrainingRun::Run() {
  CatchStopSignals();
  if (folder_.path.empty() || !invocation_.out.empty())
    folder_ = recipes::NewRunFolder(invocation_.out.empty()
                                        ? UserPath(recipes::DefaultRunPath(RunName(settings_)))
                                        : invocation_.out);
  metrics_ = std::make_unique<recipes::MetricsFile>(folder_.metrics(), begin_);
  PrintHead();
  // An epoch that ended with its run, or was cut off before its test line was written.
  if (begin_ > 0 && begin_ % steps_per_epoch_ == 0 && !metrics_->HasTest(begin_)) Evaluate();
  if (trainer_.step() < end_) {
    recipes::BatchFeed feed(task_.data().train, settings_, begin_, invocation_.timeout);
    while (trainer_.step() < end_ && StopSignal() == 0)
      TrainUntil(NextPause(trainer_.step()), feed);
  }
  const bool finished = trainer_.step() >= end_;
  if (saved_at_ != trainer_.step()) Save();
  if (finished && tested_at_ != trainer_.step()) Evaluate();
  Finish(finished);
  return finished ? 0 : 128 + StopSignal();
}

void TrainingRun::EvaluateOnly() {
  Evaluate();
  PrintLeftOut();
  PrintTruncated();
  progress_.End();
}

double TrainingRun::EpochOf(int64_t step) const {
  return static_cast<double>(step) / static_cast<double>(steps_per_epoch_);
}

void TrainingRun::PrintHead() {
  const auto many = [](int64_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  const recipes::TaskData& data = task_.data();
  Print(fmt::format("{}: {} training and {} test {}, {} of {} steps", task_.title(),
                    recipes::FormatCount(static_cast<double>(data.train.size)),
                    recipes::FormatCount(static_cast<double>(data.test.size)), data.unit,
                    many(settings_.epochs, "epoch"), steps_per_epoch_));
  std::string layout = fmt::format(
      "{}{} x {}, {} of {} samples in all, codec {}, {}", many(settings_.stages, "stage"),
      cuts_.cuts.empty() ? "" : fmt::format(" (cut {})", fmt::join(cuts_.cuts, ",")),
      many(settings_.replicas, "replica"),
      fmt::format(
          "{} micro-batch{}{}", settings_.micro_batches, settings_.micro_batches == 1 ? "" : "es",
          settings_.accumulate == 1 ? "" : fmt::format(" x {} rounds", settings_.accumulate)),
      settings_.batch_size, settings_.codec, many(settings_.threads, "thread"));
  Print(layout);
  if (!cuts_.measured.empty()) {
    std::vector<std::string> times;
    for (double seconds : cuts_.measured) times.push_back(fmt::format("{:.2f}", 1000 * seconds));
    Print(fmt::format("measured, milliseconds a layer: {}", fmt::join(times, " ")));
  }
  if (const auto& kept = task_.notes().kept; !kept.empty())
    Print(fmt::format("{} lacks, so they begin at random: {}", settings_.init,
                      fmt::join(kept, ", ")));
  if (const auto& out = task_.notes().left_out; !out.empty())
    Print(fmt::format("{} has besides, and they are left out: {}", settings_.init,
                      fmt::join(out, ", ")));
  if (begin_ > 0) Print(fmt::format("resumed after step {}", begin_));
  Print(fmt::format("into {}", folder_.path));
  PrintLeftOut();
  PrintTruncated();
}

void TrainingRun::PrintTruncated() {
  if (const std::string& truncated = task_.data().truncated; !truncated.empty()) Print(truncated);
}

// What has not been said yet: an image can turn out bad when it is decoded.
void TrainingRun::PrintLeftOut() {
  if (!task_.data().left_out) return;
  const bool more = !told_.empty();
  std::vector<data::LeftOut> news;
  for (const data::LeftOut& left_out : task_.data().left_out())
    if (told_.insert(left_out.where).second) news.push_back(left_out);
  if (!news.empty()) Print(recipes::LeftOutLine(news, more));
}

// The next step at which there is more to do than to train.
int64_t TrainingRun::NextPause(int64_t step) const {
  int64_t next = std::min(end_, (step / steps_per_epoch_ + 1) * steps_per_epoch_);
  const int64_t every = invocation_.checkpoint_every;
  return every > 0 ? std::min(next, (step / every + 1) * every) : next;
}

void TrainingRun::TrainUntil(int64_t end, recipes::BatchFeed& feed) {
  trainer_.Train(end, feed.fn(),
                 {.stop = [] { return StopSignal() != 0; },
                  .trace = [this](int64_t step) { return Traced(step); },
                  .on_step = [this](const parallel::StepReport& report) { OnStep(report); }});
  for (trace::Event& event : trace::Drain()) events_.push_back(std::move(event));
  if (StopSignal() != 0) return;
  const int64_t step = trainer_.step(), every = invocation_.checkpoint_every;
  const bool epoch_ends = step % steps_per_epoch_ == 0;
  if (every > 0 ? step % every == 0 : epoch_ends) Save();
  if (epoch_ends || step == end_) Evaluate();
}

// The first steps show how a run begins, those at a distance its steady state, the last its end.
bool TrainingRun::Traced(int64_t step) const {
  constexpr int64_t kFirst = 3, kSteadyFrom = 20, kSteady = 5, kLast = 2;
  const int64_t here = step - begin_;
  return here < kFirst || (here >= kSteadyFrom && here < kSteadyFrom + kSteady) ||
         step >= end_ - kLast;
}

void TrainingRun::OnStep(const parallel::StepReport& report) {
  Require(std::isfinite(report.loss), "train", "the loss is {} at step {}; try a smaller --lr",
          report.loss, report.step + 1);
  const auto samples = static_cast<double>(report.samples);
  metrics_->Add({{"kind", "train"},
                 {"step", report.step + 1},
                 {"epoch", EpochOf(report.step + 1)},
                 {"loss", report.loss},
                 {"lr", report.learning_rate},
                 {"samples", report.samples},
                 {"seconds", report.seconds},
                 {"samples_per_second", samples / report.seconds},
                 {"live_bytes", AllocatorFor({}).stats().live_bytes}});
  progress_.Show({report.step, report.loss, report.samples, report.seconds});
}

void TrainingRun::Evaluate() {
  recipes::BatchFeed feed(task_.data().test, settings_, 0, invocation_.timeout);
  test_ = trainer_.Evaluate(feed.batches_per_epoch(), feed.fn());
  tested_at_ = trainer_.step();
  const Json score = recipes::ScoreJson(*test_, HasAccuracy());
  if (metrics_ && !metrics_->HasTest(trainer_.step())) {
    Json line = {{"kind", "test"}, {"step", trainer_.step()}, {"epoch", EpochOf(trainer_.step())}};
    line.update(score);
    metrics_->Add(line);
  }
  const std::string what =
      HasAccuracy() ? fmt::format("accuracy {:.2f} %", 100 * score["accuracy"].get<double>())
                    : fmt::format("perplexity {:.4f}", score["perplexity"].get<double>());
  Print(fmt::format("epoch {:.4g}: test {}, loss {:.4f}", EpochOf(trainer_.step()), what,
                    test_->loss));
}

void TrainingRun::Save() {
  recipes::SaveRun({folder_, settings_, cuts_, trainer_.State()});
  saved_at_ = trainer_.step();
}

void TrainingRun::Finish(bool finished) {
  const Json summary = recipes::MakeSummary({.title = task_.title(),
                                             .unit = task_.data().unit,
                                             .accuracy = HasAccuracy(),
                                             .settings = settings_,
                                             .cuts = cuts_,
                                             .trainer = trainer_,
                                             .resumed_from = begin_,
                                             .steps_per_epoch = steps_per_epoch_,
                                             .finished = finished,
                                             .test = test_,
                                             .memory = AllocatorFor({}).stats()});
  WriteText(folder_.summary(), summary.dump(2) + "\n");
  trace::WriteChromeTrace(events_, folder_.trace());
  WriteText(folder_.report(),
            recipes::RenderReport({summary, metrics_->lines(), events_, trainer_.schedule()}));
  progress_.End();
  PrintLeftOut();
  const std::string model = recipes::ExportModel(task_, trainer_, folder_);
  Print(fmt::format("\n{}report          {}{}", recipes::ToText(summary), folder_.report(),
                    model.empty() ? "" : "\nmodel           " + model));
  if (!finished)
    Print(
        fmt::format("stopped after step {}; go on with: ./bazelw run //tools:train -- --resume {}",
                    trainer_.step(), folder_.path));
}

}  // namespace torus::tools
