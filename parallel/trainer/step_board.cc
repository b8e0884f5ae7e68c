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

StepBoard::StepBoard(int ranks, int replicas, int64_t begin, int64_t end, Hooks hooks)
    : ranks_(ranks), replicas_(replicas), end_(end), hooks_(std::move(hooks)), open_(begin) {}

bool StepBoard::Begin(int64_t step) {
  const std::lock_guard lock(mutex_);
  if (step < open_) return true;
  TORUS_CHECK(step == open_, "step {} begun before {}", step, open_);
  if (!closed_) closed_ = step >= end_ || (hooks_.stop && hooks_.stop());
  if (closed_) return false;
  ++open_;
  if (hooks_.on_begin) hooks_.on_begin(step);
  return true;
}

void StepBoard::Finish(int64_t step, int replica, bool has_loss, double loss, int64_t samples) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[step];
  entry.losses.resize(replicas_);
  entry.samples = samples;
  if (has_loss) entry.losses[replica] = loss;
  if (++entry.finished < ranks_) return;
  // Every rank finishes its steps in order, so the last one of each comes in order too.
  const double sum = std::accumulate(entry.losses.begin(), entry.losses.end(), 0.0);
  if (hooks_.on_end) hooks_.on_end({step, sum, samples, SecondsNow()});
  entries_.erase(step);
}

}  // namespace torus::parallel
