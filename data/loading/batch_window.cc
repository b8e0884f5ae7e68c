#include "data/loading/batch_window.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/error.h"

namespace torus::data {

BatchWindow::BatchWindow(Sampler sampler, LoaderOptions options)
    : options_(std::move(options)), sampler_(std::move(sampler)) {
  first_step_ = sampler_.StepOf(sampler_.position());
  end_step_ =
      options_.steps < 0 ? std::numeric_limits<int64_t>::max() : first_step_ + options_.steps;
}

BatchWindow::Round BatchWindow::MakeRound() {
  const int64_t step = sampler_.StepOf(sampler_.position());
  const MiniBatch batch = sampler_.Next();
  Round round;
  for (int m = 0; m < options_.micro_batches; ++m) {
    for (const int replica : options_.local_replicas) {
      round.slots.push_back(
          {.step = step,
           .replica = replica,
           .micro_batch = m,
           .part = SplitMiniBatch(batch, options_.replicas, options_.micro_batches, replica, m)});
    }
  }
  round.open = round.slots.size();
  return round;
}

BatchWindow::Slot* BatchWindow::Claim() {
  if (rounds_.empty() || rounds_.back().claimed == rounds_.back().slots.size()) {
    const auto size = static_cast<int64_t>(rounds_.size());
    if (size >= options_.prefetch || first_step_ + size >= end_step_) return nullptr;
    rounds_.push_back(MakeRound());
  }
  return &rounds_.back().slots[rounds_.back().claimed++];
}

void BatchWindow::CheckStep(const MicroBatchName& name) const {
  const int64_t step = name.step;
  if (options_.steps < 0) {
    Require(step >= first_step_, "loader", "requires a step of {} and up, got {}", first_step_,
            name);
  } else {
    Require(step >= first_step_ && step < end_step_, "loader",
            "requires a step of {} to {}, got {}", first_step_, end_step_ - 1, name);
  }
}

size_t BatchWindow::IndexOf(int replica, int micro_batch) const {
  const auto& local = options_.local_replicas;
  const auto found = std::find(local.begin(), local.end(), replica);
  Require(found != local.end(), "loader", "requires one of the replicas {}, got {}",
          fmt::join(local, ", "), replica);
  Require(micro_batch >= 0 && micro_batch < options_.micro_batches, "loader",
          "requires a micro-batch of 0 to {}, got {}", options_.micro_batches - 1, micro_batch);
  return static_cast<size_t>(micro_batch) * local.size() +
         static_cast<size_t>(found - local.begin());
}

BatchWindow::Slot* BatchWindow::Find(int64_t step, int replica, int micro_batch) {
  const size_t index = IndexOf(replica, micro_batch);
  const MicroBatchName name{step, replica, micro_batch};
  CheckStep(name);
  const auto round = static_cast<size_t>(step - first_step_);
  if (round >= rounds_.size()) return nullptr;
  Slot& slot = rounds_[round].slots[index];
  Require(slot.fetched < options_.readers, "loader", "{} was already fetched by all {} readers",
          name, options_.readers);
  return &slot;
}

bool BatchWindow::Fetched(Slot* slot) {
  if (++slot->fetched < options_.readers) return false;
  slot->batch = nullptr;
  slot->raise = nullptr;
  --rounds_[static_cast<size_t>(slot->step - first_step_)].open;
  bool moved = false;
  for (; !rounds_.empty() && rounds_.front().open == 0; ++first_step_, moved = true) {
    rounds_.pop_front();
  }
  return moved;
}

}  // namespace torus::data
