// The part of TrainingRun that evaluates: when, on which part of the data, and what follows.
#include <cmath>

#include "recipes/run/earlier_checkpoints.h"
#include "recipes/run/summary.h"
#include "recipes/run/training_run.h"
#include "runtime/error.h"

namespace torus::recipes {

// With a validation part the test set is for the end, unless best/ is chosen on it. Returns false
// if it was stopped.
bool TrainingRun::Evaluate() {
  if (Validates() && !EvaluateOn(validation_)) return false;
  const bool tests = !Validates() || settings_.best == "test" || IsAtEnd();
  return !tests || EvaluateOn(test_);
}

// Returns false if it was stopped; there is no result then.
bool TrainingRun::EvaluateOn(Evaluated& on) {
  Settings whole = settings_;
  whole.drop_last = false;  // every example counts
  const std::shared_ptr<BatchFeed> feed = Feed(on.part, whole, 0);
  const parallel::EvaluationResult score = trainer_->Evaluate(
      feed->batches_per_epoch(), BatchFeed::Fn(feed), [this] { return Stops(); });
  if (!score.finished) return false;
  Require(score.samples > 0, "train", "--data {} has no {} {} that can be read", settings_.data,
          on.name, task_.data().unit);
  on.score = score;
  on.step = trainer_->step();
  if (metrics_ && !metrics_->HasEvaluation(on.name, on.step)) Record(on);
  if (callbacks_.on_evaluate) callbacks_.on_evaluate(*ResultOf(on));
  SayLeftOut();
  if (!keeps_files_ || !ChoosesBest(settings_) || &on != &chooser()) return true;
  KeepIfBest(on);
  SayIfOutOfPatience();
  return true;
}

// None before the first evaluation that was not stopped.
std::optional<Evaluation> TrainingRun::ResultOf(const Evaluated& on) const {
  if (!on.score) return std::nullopt;
  Evaluation result{.part = on.name,
                    .step = on.step,
                    .epoch = EpochOf(on.step),
                    .samples = on.score->samples,
                    .loss = on.score->loss};
  if (HasAccuracy())
    result.accuracy = std::isfinite(result.loss) ? static_cast<double>(on.score->correct) /
                                                       static_cast<double>(result.samples)
                                                 : std::nan("");
  return result;
}

// For a file; the part is under `key`.
nlohmann::json TrainingRun::LineOf(const char* key, const Evaluated& on) const {
  nlohmann::json line = {{key, on.name}, {"step", on.step}, {"epoch", EpochOf(on.step)}};
  line.update(ScoreJson(*on.score, HasAccuracy()));
  return line;
}

std::optional<Evaluation> TrainingRun::EvaluateOnly() {
  if (!EvaluateOn(test_)) return std::nullopt;
  SayTruncated();
  if (const std::string why = WhyNoScore(); !why.empty()) throw NoScore(why);
  return ResultOf(test_);
}

void TrainingRun::Record(const Evaluated& on) {
  metrics_->Add(LineOf("kind", on));
  const Evaluation result = *ResultOf(on);
  const std::string part = on.name;
  const Scalar scalars[] = {{part + "/loss", result.loss},
                            HasAccuracy() ? Scalar{part + "/accuracy", *result.accuracy}
                                          : Scalar{part + "/perplexity", std::exp(result.loss)}};
  event_file_->Add(SecondsNow(), result.step, scalars);
}

void TrainingRun::KeepIfBest(const Evaluated& on) {
  nlohmann::json result = LineOf("part", on);
  if (!Agree([&] { return IsBetter(result, best_); }, "whether a checkpoint is the best")) return;
  if (saved_at_ != on.step) Save();
  processes_.Lead([&] { KeepAsBest(folder_, result); });
  best_ = std::move(result);
}

bool TrainingRun::LacksFigure() const {
  const char* const part = (Validates() ? validation_ : test_).name;
  return Agree([&] { return !metrics_->HasEvaluation(part, begin_); },
               "whether a figure is missing");
}

void TrainingRun::SayIfOutOfPatience() {
  if (IsAtEnd() || !IsOutOfPatience()) return;
  out_of_patience_ = true;
  Say(
      fmt::format("training ends early: the last {} evaluations were no better than the best, "
                  "--patience",
                  settings_.patience));
}

// By the evaluations since the best one, also those before the run was resumed; of those here, if
// there is no best one on this part of the data.
bool TrainingRun::IsOutOfPatience() const {
  if (settings_.patience == 0) return false;
  return Agree(
      [this] {
        const int64_t best = best_.is_null() ? begin_ : best_.at("step").get<int64_t>();
        return metrics_->EvaluationsAfter(chooser().name, best) >= settings_.patience;
      },
      "whether patience is at its end");
}

// Empty if the last evaluations have a score, or there were none. All processes know the losses.
std::string TrainingRun::WhyNoScore() const {
  for (const Evaluated* on : {&test_, &validation_})
    if (on->score && !std::isfinite(on->score->loss))
      return fmt::format("[train] the loss on the {} {} is {} after step {}, so there is no score",
                         on->name, task_.data().unit, on->score->loss, on->step);
  return "";
}

}  // namespace torus::recipes
