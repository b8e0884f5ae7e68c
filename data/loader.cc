#include "data/loader.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <system_error>
#include <utility>

#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "runtime/trace.h"

namespace torus::data {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

LoaderOptions Checked(LoaderOptions options) {
  const std::pair<const char*, int> counts[] = {{"replicas", options.replicas},
                                                {"micro-batches", options.micro_batches},
                                                {"readers", options.readers},
                                                {"workers", options.workers},
                                                {"prefetch", options.prefetch}};
  for (const auto& [name, count] : counts) {
    Require(count >= 1, "loader", "requires {} of at least 1, got {}", name, count);
  }
  if (options.local_replicas.empty()) {
    options.local_replicas.resize(options.replicas);
    std::iota(options.local_replicas.begin(), options.local_replicas.end(), 0);
  }
  for (const int replica : options.local_replicas) {
    Require(replica >= 0 && replica < options.replicas, "loader",
            "requires a local replica of 0 to {}, got {}", options.replicas - 1, replica);
  }
  return options;
}

// Throws a `Kind` each time: an exception object of its own for every thread that reads the slot.
template <class Kind>
std::function<void()> Raise(std::string message) {
  return [message = std::move(message)] { throw Kind(message); };
}

}  // namespace

Loader::Loader(Sampler sampler, MakeBatch make, LoaderOptions options)
    : options_(Checked(std::move(options))), make_(std::move(make)), sampler_(std::move(sampler)) {
  next_step_ = sampler_.StepOf(sampler_.position());
  end_step_ =
      options_.steps < 0 ? std::numeric_limits<int64_t>::max() : next_step_ + options_.steps;
  try {
    for (int i = 0; i < options_.workers; ++i) threads_.emplace_back([this] { Work(); });
  } catch (const std::system_error& e) {
    StopAndJoin();
    Throw<BrokenEnvironment>("loader", "cannot start {} workers: {}", options_.workers, e.what());
  }
}

Loader::~Loader() { StopAndJoin(); }

void Loader::StopAndJoin() {
  Stop();
  for (std::thread& thread : threads_) thread.join();
}

void Loader::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  work_.notify_all();
  ready_.notify_all();
}

// With the lock held: takes the next slot to make, opening the next mini-batch when the window has
// room for it.
bool Loader::Claim(Task* task) {
  const auto room = static_cast<size_t>(options_.prefetch);
  if (rounds_.empty() || rounds_.back().claimed == rounds_.back().slots.size()) {
    if (rounds_.size() >= room || next_step_ == end_step_) return false;
    Round round{.step = next_step_++, .batch = sampler_.Next()};
    round.open = options_.local_replicas.size() * static_cast<size_t>(options_.micro_batches);
    round.slots.resize(round.open);
    rounds_.push_back(std::move(round));
  }
  *task = {&rounds_.back(), rounds_.back().claimed++};
  return true;
}

void Loader::Work() {
  SetProgressCounter(&progress_);
  SetTeamSize(1);
  std::unique_lock lock(mutex_);
  for (;;) {
    Task task{};
    work_.wait(lock, [&] { return stopped_ || Claim(&task); });
    if (stopped_) break;
    lock.unlock();
    // The round stays where it is: it is not forgotten before this slot is fetched, and a deque
    // does not move elements.
    Slot result;
    Make(task, &result);
    lock.lock();
    task.round->slots[task.slot] = std::move(result);
    TickProgress();
    ready_.notify_all();
  }
  SetProgressCounter(nullptr);
}

void Loader::Make(const Task& task, Slot* result) const {
  const auto local = options_.local_replicas.size();
  const std::string name = NameOf(task.round->step, options_.local_replicas[task.slot % local],
                                  static_cast<int>(task.slot / local));
  try {
    result->batch = std::make_shared<const Batch>(make_(PartOfSlot(*task.round, task.slot)));
  } catch (const BadInput& e) {
    result->raise = Raise<BadInput>(fmt::format("[loader] {}: {}", name, e.what()));
  } catch (const InternalError& e) {
    result->raise = Raise<InternalError>(fmt::format("[loader] {}: {}", name, e.what()));
  } catch (const std::exception& e) {
    result->raise = Raise<BrokenEnvironment>(fmt::format("[loader] {}: {}", name, e.what()));
  } catch (...) {
    result->raise = Raise<BrokenEnvironment>(fmt::format("[loader] {}: unknown error", name));
  }
  result->ready = true;
}

MicroBatch Loader::PartOfSlot(const Round& round, size_t slot) const {
  const auto local = options_.local_replicas.size();
  return SplitMiniBatch(round.batch, options_.replicas, options_.micro_batches,
                        options_.local_replicas[slot % local], static_cast<int>(slot / local));
}

std::string Loader::NameOf(int64_t step, int replica, int micro_batch) const {
  return fmt::format("step {}, replica {}, micro-batch {}", step, replica, micro_batch);
}

size_t Loader::SlotOf(int replica, int micro_batch) const {
  const auto& local = options_.local_replicas;
  const auto found = std::find(local.begin(), local.end(), replica);
  Require(found != local.end(), "loader", "requires one of the replicas {}, got {}",
          fmt::join(local, ", "), replica);
  Require(micro_batch >= 0 && micro_batch < options_.micro_batches, "loader",
          "requires a micro-batch of 0 to {}, got {}", options_.micro_batches - 1, micro_batch);
  return static_cast<size_t>(micro_batch) * local.size() +
         static_cast<size_t>(found - local.begin());
}

// With the lock held: the slot, or null while it is not made.
Loader::Slot* Loader::FindReady(int64_t step, size_t slot) {
  if (rounds_.empty() || step > rounds_.back().step) return nullptr;
  Slot& found = rounds_[static_cast<size_t>(step - rounds_.front().step)].slots[slot];
  return found.ready ? &found : nullptr;
}

void Loader::CheckStep(int64_t step, const std::string& name) const {
  const int64_t oldest = rounds_.empty() ? next_step_ : rounds_.front().step;
  Require(step >= oldest && step < end_step_, "loader", "requires a step of {} to {}, got {}",
          oldest, end_step_ - 1, name);
}

void Loader::Await(std::unique_lock<std::mutex>& lock, int64_t step, size_t slot,
                   const std::string& name) {
  const auto timeout = std::chrono::duration_cast<Clock::duration>(
      Seconds(std::max(options_.timeout_seconds, 1e-3)));
  // Short turns, so that this thread's sign of life follows the workers'.
  const auto turn = std::min<Clock::duration>(timeout, std::chrono::milliseconds(100));
  uint64_t seen = progress_.load(std::memory_order_relaxed);
  auto deadline = Clock::now() + timeout;
  while (!stopped_ && FindReady(step, slot) == nullptr) {
    ready_.wait_until(lock, std::min(deadline, Clock::now() + turn));
    const uint64_t now = progress_.load(std::memory_order_relaxed);
    if (now != seen) {
      seen = now;
      deadline = Clock::now() + timeout;
      TickProgress();
    } else if (Clock::now() >= deadline && FindReady(step, slot) == nullptr) {
      Throw<BrokenEnvironment>("loader", "waited for {} while no worker moved in {} s", name,
                               options_.timeout_seconds);
    }
  }
  if (stopped_) Throw<BrokenEnvironment>("loader", "stopped while {} was waited for", name);
}

// With the lock held: one reader has it. Forgets what all readers have.
void Loader::Retire(int64_t step, Slot* slot) {
  if (++slot->fetched < options_.readers) return;
  slot->batch = nullptr;
  slot->raise = nullptr;
  --rounds_[static_cast<size_t>(step - rounds_.front().step)].open;
  while (!rounds_.empty() && rounds_.front().open == 0) rounds_.pop_front();
  work_.notify_all();
}

Loader::BatchPtr Loader::Fetch(int64_t step, int replica, int micro_batch, double* waited) {
  const trace::Scope scope("fetch", "data", step, micro_batch);
  const std::string name = NameOf(step, replica, micro_batch);
  const auto begin = Clock::now();
  std::unique_lock lock(mutex_);
  const size_t index = SlotOf(replica, micro_batch);
  CheckStep(step, name);
  Await(lock, step, index, name);
  Slot* const slot = FindReady(step, index);
  Require(slot->fetched < options_.readers, "loader", "{} was already fetched by all {} readers",
          name, options_.readers);
  const BatchPtr batch = slot->batch;
  const std::function<void()> raise = slot->raise;
  Retire(step, slot);
  if (waited != nullptr) *waited += Seconds(Clock::now() - begin).count();
  if (raise) raise();
  return batch;
}

}  // namespace torus::data
