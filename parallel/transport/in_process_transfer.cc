#include "parallel/transport/in_process_transfer.h"

#include <exception>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

using Clock = std::chrono::steady_clock;

int64_t NanosecondsSince(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

InProcessTransfer::~InProcessTransfer() {
  std::unique_lock lock(state_.mutex);
  // A peer that is copying from this rank's buffer finishes soon, whatever else has failed.
  changed().wait(lock, [&] { return !message_->moving; });
  if (!message_->done) state_.mailbox.Withdraw(message_);
}

WaitTime InProcessTransfer::Wait() {
  WaitTime time;
  const Clock::time_point begin = Clock::now();
  std::unique_lock lock(state_.mutex);
  WaitUntilReady(lock, begin);
  time.blocked = NanosecondsSince(begin);
  if (!message_->sends) {
    Move(lock);
    time.moving = NanosecondsSince(begin) - time.blocked;
  }
  state_.chain.progress(message_->rank()).ticks.fetch_add(1, std::memory_order_relaxed);
  return time;
}

bool InProcessTransfer::Done() {
  const std::lock_guard lock(state_.mutex);
  return Ready();
}

bool InProcessTransfer::Ready() const {
  if (!message_->error.empty()) throw BadInput(message_->error);
  return message_->sends ? message_->done : message_->match != nullptr;
}

void InProcessTransfer::WaitUntilReady(std::unique_lock<std::mutex>& lock,
                                       Clock::time_point begin) {
  if (Ready()) return;
  struct Waiting {
    WaitChain& chain;
    int rank;
    ~Waiting() { chain.End(rank); }
  };
  state_.chain.Begin(message_->rank(), message_->peer(), message_->what);
  const Waiting waiting{state_.chain, message_->rank()};
  ChainDeadline deadline(state_.chain, message_->rank(), state_.options.timeout, begin);
  while (!Ready()) {
    if (state_.aborted) state_.ThrowAborted(message_->rank(), Doing(begin));
    changed().wait_until(lock, deadline.next_look());
    if (deadline.Passed(Clock::now()) && !Ready() && !state_.aborted) ThrowTimeout(begin);
  }
}

std::string InProcessTransfer::Doing(Clock::time_point begin) const {
  return fmt::format("{} for {:.2f} s", WaitingText(message_->Text()), SecondsSince(begin));
}

// Aborts the world under the same lock. Otherwise another rank that times out now could find that
// this one no longer waits, and blame it.
void InProcessTransfer::ThrowTimeout(Clock::time_point begin) const {
  const std::string text = GaveUpText(message_->Text(), SecondsSince(begin), state_.options.timeout,
                                      state_.chain.Describe(message_->rank()));
  state_.Abort(message_->rank(), text);
  throw BrokenEnvironment(text);
}

void InProcessTransfer::Move(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<Message> send = message_->match;
  send->moving = true;
  lock.unlock();
  std::exception_ptr failure;  // of a GPU
  try {
    for (const Message* side : {send.get(), message_.get()})
      if (side->reached != nullptr) side->reached->Wait();
    CopyMemory(send->source, send->device, message_->target, message_->device, send->bytes);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  send->moving = false;
  if (failure) {
    changed().notify_all();
    state_.changed[send->from].notify_all();
    std::rethrow_exception(failure);
  }
  send->done = message_->done = true;
  send->match.reset();  // the two point at each other
  message_->match.reset();
  state_.Sent(send->from, send->to, send->tag.kind)
      .fetch_add(send->bytes, std::memory_order_relaxed);
  state_.changed[send->from].notify_all();
}

}  // namespace torus::parallel
