#include "parallel/trainer/step_board.h"

#include <chrono>
#include <numeric>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

StepBoard::StepBoard(int ranks, int replicas, Span span, Hooks hooks)
    : ranks_(ranks),
      replicas_(replicas),
      span_(span),
      hooks_(std::move(hooks)),
      open_(span.begin),
      skipped_(span.skipped) {}

bool StepBoard::Begin(int64_t step) {
  const std::lock_guard lock(mutex_);
  if (step < open_) return true;
  TORUS_CHECK(step == open_, "step {} begun before {}", step, open_);
  // Whoever asks has finished the step before, so that one is counted.
  if (!closed_)
    closed_ = step >= span_.end || skipped_ >= span_.max_skipped || (hooks_.stop && hooks_.stop());
  if (closed_) return false;
  ++open_;
  if (hooks_.on_begin) hooks_.on_begin(step);
  return true;
}

void StepBoard::Finish(int64_t step, const RankOutcome& outcome) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[step];
  entry.losses.resize(replicas_);
  entry.samples = outcome.samples;
  entry.skipped = outcome.skipped;
  if (outcome.has_loss) entry.losses[outcome.replica] = outcome.loss;
  if (entry.finished == 0) skipped_ = outcome.skipped ? skipped_ + 1 : 0;
  if (++entry.finished < ranks_) return;
  // Every rank finishes its steps in order, so the last one of each comes in order too.
  const double sum = std::accumulate(entry.losses.begin(), entry.losses.end(), 0.0);
  if (hooks_.on_end) hooks_.on_end({step, sum, entry.samples, entry.skipped, SecondsNow()});
  entries_.erase(step);
}

}  // namespace torus::parallel
