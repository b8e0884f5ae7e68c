#include "parallel/transport/in_process_state.h"

#include "parallel/transport/transfer_text.h"
#include "runtime/error.h"

namespace torus::parallel {

InProcessState::InProcessState(int size, InProcessOptions options)
    : size(size),
      options(options),
      chain(size),
      changed(size),
      sent(static_cast<size_t>(size) * size * kTagClasses) {
  for (int rank = 0; rank < size; ++rank)
    chain.progress(rank).on_tick = [this, rank] { ThrowAborted(rank, ""); };
}

void InProcessState::Abort(int rank, const std::string& why) {
  if (aborted) return;
  aborted_by = rank;
  reason = why;
  aborted.store(true, std::memory_order_release);
  for (int r = 0; r < size; ++r) chain.progress(r).watched.store(true, std::memory_order_release);
  for (std::condition_variable& rank_changed : changed) rank_changed.notify_all();
}

void InProcessState::ThrowAborted(int rank, const std::string& waiting) const {
  throw BrokenEnvironment(StoppedText(rank, waiting, aborted_by, reason));
}

}  // namespace torus::parallel
