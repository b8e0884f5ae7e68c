// The part of TrainingRun that writes files: the run's folder, its checkpoints and its results.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <new>

#include "parallel/schedule/csv.h"
#include "recipes/report/read_trace.h"
#include "recipes/report/report.h"
#include "recipes/run/earlier_checkpoints.h"
#include "recipes/run/export_model.h"
#include "recipes/run/summary.h"
#include "recipes/run/training_run.h"
#include "runtime/error.h"
#include "runtime/io/checkpoint_reader.h"
#include "runtime/io/file.h"
#include "runtime/io/json.h"
#include "runtime/io/replaced_file.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

// Empty if nothing failed.
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

// As a summary has it: what was not finite is null.
std::optional<Evaluation> StoredResult(const char* part, const Json& summary, double epoch) {
  const Json& test = io::Member(summary, part);
  if (!test.is_object()) return std::nullopt;
  const auto figure = [&](const char* key) {
    const Json& value = io::Member(test, key);
    return value.is_number() ? value.get<double>() : std::nan("");
  };
  Evaluation evaluation{.part = part,
                        .step = summary.at("steps"),
                        .epoch = epoch,
                        .samples = static_cast<int64_t>(figure("samples")),
                        .loss = figure("loss")};
  if (test.contains("accuracy")) evaluation.accuracy = figure("accuracy");
  return evaluation;
}

// Null if there is no such file, or none that can be read.
Json ReadIfAny(const std::string& path) try {
  return io::ReadJsonObject(path);
} catch (const BadInput&) {
  return nullptr;
}

// A resumed run's earlier file stays until the new one is complete.
void WriteText(const std::string& path, const std::string& text) {
  io::ReplaceFile(path, [&](const std::string& fresh) {
    io::OutputFile file(fresh);
    file.Write(text);
    file.Close(false);
  });
}

}  // namespace

void TrainingRun::TakeFolder() {
  if (!options_.out.empty())
    own_ = NewRunFolder(options_.out);
  else if (options_.resume.empty())
    own_ = NewRunFolder(options_.runs, settings_);
}

// The step of the newest checkpoint in the folder; -1 for none that can be read.
int64_t TrainingRun::NewestStep() const try {
  return io::CheckpointReader(folder_.checkpoint()).manifest().step;
} catch (const Error&) {
  return -1;
}

// The summary of a run that has nothing left to train. None if the run was killed between its
// newest checkpoint and its summary.
Json TrainingRun::SummaryInFolder() const {
  Json summary = ReadIfAny(folder_.summary());
  const Json& steps = io::Member(summary, "steps");
  const bool of_now = steps.is_number_integer() && (steps == begin_ || NewestStep() != begin_);
  return of_now ? summary : Json();
}

// The flag that ends the run.
std::string TrainingRun::LimitingFlag() const {
  const int64_t all = steps_per_epoch_ * settings_.epochs;
  if (options_.max_steps == 0 || all < options_.max_steps) return "--epochs";
  return options_.max_steps < all ? "--max-steps" : "--epochs and --max-steps";
}

// Whether `summary` is of a run that patience ended at the step from which this one would go on,
// with no less patience.
bool TrainingRun::EndedEarly(const Json& summary) const {
  const Json& patience = io::Member(summary, "early_stop");
  return patience.is_number_integer() && patience >= settings_.patience &&
         io::Member(summary, "steps") == begin_ && io::Member(summary, "finished") == true;
}

// What is left as it is where there is nothing to train: the times and the trace are of steps that
// another end of the run would not know. Only a last evaluation may still be missing.
std::optional<RunResult> TrainingRun::LeftByEnd() {
  if (begin_ < end_ && settings_.patience == 0) return std::nullopt;
  earlier_ = Json::parse(processes_.OfLeader([this] { return SummaryInFolder().dump(); },
                                             "whether the run is at its end"));
  const bool early = begin_ < end_;
  if (early && !EndedEarly(earlier_)) earlier_ = nullptr;
  if (earlier_.is_null()) return std::nullopt;
  const int64_t steps = earlier_.at("steps");
  if (steps == begin_ && begin_ == end_ && io::Member(earlier_, "finished") != true)
    return std::nullopt;
  RunResult result{.folder = folder_.path, .step = steps};
  if (!processes_.leads()) return result;
  Say(early
          ? fmt::format("training has ended early, after step {}, so nothing changes; a larger "
                        "--patience continues",
                        steps)
          : fmt::format("all {} steps are already done, so nothing changes; a larger {} continues",
                        end_, LimitingFlag()));
  result.summary = earlier_.dump(2) + "\n";
  result.test = StoredResult("test", earlier_, EpochOf(steps));
  result.validation = StoredResult("validation", earlier_, EpochOf(steps));
  for (const std::string& model : {folder_.model(), folder_.averaged_weights()})
    if (std::filesystem::exists(model)) result.model = model;
  return result;
}

void TrainingRun::OpenFiles() {
  metrics_ = std::make_unique<MetricsFile>(folder_.metrics(), begin_);
  left_out_ = LeftOutNotes(folder_.left_out());
  passed_over_ = LeftOutNotes(folder_.left_out(), Omitted::kOthers);
  event_file_ = std::make_unique<EventFile>(folder_.path, SecondsNow(), begin_);
  MarkBegun();
}

// So that a run that is killed is known as one that did not end (unended_run.h): by its settings
// and nothing measured, or by what it had before it was resumed.
void TrainingRun::MarkBegun() {
  Json summary = begin_ > 0 ? ReadIfAny(folder_.summary()) : Json();
  if (summary.is_null()) summary = Summary(false, "", {{memory_.stats(), {}}, {}});
  summary["ended"] = false;
  WriteText(folder_.summary(), summary.dump(2) + "\n");
  WriteText(folder_.schedule(), parallel::ToCsv(trainer_->schedule()));
  // Of a run that failed there before. Anything else in its place is found when it is written.
  std::error_code none;
  if (begin_ == 0 && std::filesystem::is_regular_file(folder_.trace(), none))
    std::filesystem::remove(folder_.trace(), none);
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
               {"live_bytes", memory_.stats().live_bytes}};
  if (report.skipped) line["skipped"] = true;
  std::vector<Scalar> scalars = {{"train/loss", report.loss},
                                 {"train/learning_rate", report.learning_rate},
                                 {"train/samples_per_second", samples / report.seconds}};
  if (report.gradient_norm) {
    line["gradient_norm"] = *report.gradient_norm;
    scalars.push_back({"train/gradient_norm", *report.gradient_norm});
  }
  metrics_->Add(line);
  event_file_->Add(SecondsNow(), report.step + 1, scalars);
  if (callbacks_.on_step) callbacks_.on_step(report);
}

// If the weights themselves are not finite, keeps the previous checkpoint.
void TrainingRun::KeepLastGood() try {
  if (saved_at_ != trainer_->step()) Save();
} catch (const BadInput&) {
}

void TrainingRun::Save() {
  const int64_t step = trainer_->step();
  std::map<std::string, std::string> files;
  processes_.Lead([&] {
    files = ModelFiles(task_);
    if (saved_at_ >= 0 && saved_at_ < step && options_.keep > 1) KeepAsEarlier(folder_, saved_at_);
  });
  plans_.Write(folder_);  // before it: what is resumed must choose as it did
  SaveRun(folder_, {settings_, cuts_, OrderOf(task_.data())}, *trainer_, files);
  processes_.Lead([&] { RemoveEarlier(folder_, step, options_.keep - 1); });
  saved_at_ = step;
}

Json TrainingRun::Summary(bool finished, const std::string& error, const RunUse& use) const {
  return MakeSummary({.title = task_.title(),
                      .unit = task_.data().unit,
                      .accuracy = HasAccuracy(),
                      .settings = settings_,
                      .cuts = cuts_,
                      .trainer = *trainer_,
                      .resumed_from = begin_,
                      .steps_per_epoch = steps_per_epoch_,
                      .finished = finished,
                      .early_stop = out_of_patience_ ? settings_.patience : 0,
                      .error = error,
                      .test = test_.score,
                      .validation = validation_.score,
                      .step_seconds = MedianStepSeconds(),
                      .memory = use.memory.all,
                      .rank_peaks = use.memory.rank_peaks,
                      .plans = settings_.device == "cpu"
                                   ? std::nullopt
                                   : std::optional<cuda::PlanCounts>(use.plans)});
}

// The median over the steps of this process, without the first, a warm-up, if there are others; 0
// without steps.
double TrainingRun::MedianStepSeconds() const {
  std::vector<double> seconds;
  for (const Json& line : metrics_->lines())
    if (line.at("kind") == "train" && line.at("step") > begin_)
      seconds.push_back(line.at("seconds"));
  if (seconds.size() > 1) seconds.erase(seconds.begin());
  if (seconds.empty()) return 0;
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

void TrainingRun::KeepEvents() {
  for (trace::Event& event : trace::Drain()) events_.push_back(std::move(event));
}

// The path written; empty for none, and where another process writes it.
std::string TrainingRun::Export() {
  std::string path;
  processes_.Lead([&] { path = ExportModel(task_, folder_); });
  return path;
}

// Writes each file whether or not the others can be written; the first error is then the run's
// error. The model comes first, as the purpose of the run. After a failure there is no
// communication with other processes.
RunResult TrainingRun::Finish(bool finished, std::exception_ptr failure) {
  RunResult result{.folder = folder_.path,
                   .finished = finished,
                   .step = trainer_->step(),
                   .test = ResultOf(test_),
                   .validation = ResultOf(validation_)};
  Attempts attempts(failure);
  if (!failure) attempts.Try([&] { result.model = Export(); });
  KeepEvents();
  RunUse use{{memory_.stats(), {}}, plans_.counts()};
  attempts.Try([&] { plans_.Write(folder_); });  // what the last evaluation has chosen
  if (!attempts.failure()) attempts.Try([&] { events_ = GatherEvents(processes_, events_); });
  if (!attempts.failure())
    attempts.Try([&] { use.memory = GatherMemory(processes_, memory_.stats()); });
  if (!attempts.failure())
    attempts.Try([&] { use.plans = GatherPlans(processes_, plans_.counts()); });
  if (processes_.leads()) processes_.Finish([&] { WriteFiles(finished, use, attempts, result); });
  if (attempts.failure()) std::rethrow_exception(attempts.failure());
  if (const std::string why = WhyNoScore(); finished && !why.empty()) {
    // No process ends the others before the leading one has written its files.
    Agree([] { return true; }, "whether the run's files are written");
    throw NoScore(why + "; try a smaller --lr");
  }
  return result;
}

// Where nothing was trained, the times of the steps before, and how it has ended now.
Json TrainingRun::WithEarlierTimes(const Json& now) const {
  Json merged = now;
  merged.update(earlier_);
  merged.erase("ended");
  for (const char* key : {"finished", "error", "test", "validation"}) merged[key] = now.at(key);
  return merged;
}

// The events of the trace in the folder; none if it is damaged.
std::vector<trace::Event> TrainingRun::EventsInFolder() const try {
  return ReadChromeTrace(folder_.trace());
} catch (const Error&) {
  return {};
}

void TrainingRun::WriteFiles(bool finished, const RunUse& use, Attempts& attempts,
                             RunResult& result) {
  const std::string error = attempts.failure() ? MessageOf(attempts.failure())
                            : finished         ? WhyNoScore()
                                               : "";
  Json summary;
  attempts.Try([&] {
    summary = Summary(finished && error.empty(), error, use);
    if (!earlier_.is_null()) summary = WithEarlierTimes(summary);
    result.summary = summary.dump(2) + "\n";
    WriteText(folder_.summary(), result.summary);
  });
  if (earlier_.is_null()) {
    attempts.Try([&] { WriteText(folder_.schedule(), parallel::ToCsv(trainer_->schedule())); });
    attempts.Try([&] {
      io::ReplaceFile(folder_.trace(),
                      [&](const std::string& fresh) { trace::WriteChromeTrace(events_, fresh); });
    });
  } else {
    events_ = EventsInFolder();
  }
  attempts.Try([&] {
    WriteText(folder_.report(),
              RenderReport({summary, metrics_->lines(), events_, trainer_->schedule()}));
  });
  attempts.Try([&] { SayLeftOut(); });
}

}  // namespace torus::recipes
