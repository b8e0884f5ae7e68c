#include "parallel/transport/mpi/progress_watch.h"

#include <algorithm>
#include <chrono>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

std::chrono::duration<double> Interval(double timeout) {
  return std::chrono::duration<double>(std::clamp(timeout / 16, 0.01, 0.5));
}

}  // namespace

ProgressWatch::ProgressWatch(MpiState& state)
    : state_(state), limit_(2 * state.options.timeout), thread_([this] { Run(); }) {}

ProgressWatch::~ProgressWatch() {
  {
    const std::lock_guard lock(state_.mutex);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ProgressWatch::Run() {
  std::unique_lock lock(state_.mutex);
  while (!changed_.wait_for(lock, Interval(state_.options.timeout), [this] { return ends_; })) try {
      state_.Pump();
      Look();
    } catch (const std::exception& error) {
      state_.Abort(state_.rank, error.what());
    }
}

void ProgressWatch::Look() {
  const MpiClock::time_point now = MpiClock::now();
  // This process itself was stopped, and has not heard yet what the others did since.
  if (std::chrono::duration<double>(now - looked_).count() > limit_ / 4) began_ = moved_ = now;
  looked_ = now;
  const std::vector<uint64_t> ticks = state_.chain.Look();
  if (ticks != seen_) moved_ = now;
  seen_ = ticks;
  const auto since =
      now - std::chrono::duration_cast<MpiClock::duration>(std::chrono::duration<double>(limit_));
  if (state_.aborted || since < began_) return;
  std::vector<int> staying;
  for (int rank = 0; rank < state_.size; ++rank)
    if (!state_.left[rank]) staying.push_back(rank);
  if (moved_ < since) return GiveUp(staying, "shows no progress");
  if (const std::vector<int> silent = SilentSince(since); !silent.empty())
    GiveUp(silent, "has sent no sign of life");
}

std::vector<int> ProgressWatch::SilentSince(MpiClock::time_point time) const {
  std::vector<int> silent;
  for (int rank = 0; rank < state_.size; ++rank)
    if (rank != state_.rank && !state_.left[rank] && state_.heard(rank) < time)
      silent.push_back(rank);
  return silent;
}

void ProgressWatch::GiveUp(const std::vector<int>& ranks, const char* what) {
  state_.Abort(
      -1, fmt::format("[ranks] rank {} {} for {:.2f} s", fmt::join(ranks, ", "), what, limit_));
}

}  // namespace torus::parallel
