#include "parallel/transport/in_process.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "parallel/transport/mailbox.h"
#include "parallel/transport/wait_chain.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

int64_t NanosecondsSince(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

Clock::duration ToDuration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
}

// Leaves the error with both sides; each throws it from its own Wait.
void CheckSizes(Message& a, Message& b) {
  if (a.bytes == b.bytes) return;
  const Message& send = a.sends ? a : b;
  const Message& recv = a.sends ? b : a;
  a.error = b.error = fmt::format(
      "[transport] sizes differ: rank {} sends {} bytes ({}), rank {} receives {} ({}), tag {}",
      send.from, send.bytes, send.what, recv.to, recv.bytes, recv.what, ToString(send.tag));
}

}  // namespace

struct InProcessWorld::State {
  State(int size, InProcessOptions options)
      : size(size),
        options(options),
        chain(size),
        changed(size),
        sent(static_cast<size_t>(size) * size * kTagClasses) {}

  std::atomic<uint64_t>& Sent(int from, int to, TagClass kind) {
    return sent[(static_cast<size_t>(from) * size + to) * kTagClasses + static_cast<size_t>(kind)];
  }

  // Lock held.
  void Abort(int rank, const std::string& why) {
    if (aborted) return;
    aborted_by = rank;
    reason = why;
    aborted.store(true, std::memory_order_release);
    for (std::condition_variable& rank_changed : changed) rank_changed.notify_all();
  }

  // The error that everyone gets after an abort. Lock held, or `aborted` seen.
  [[noreturn]] void ThrowAborted(int rank, const std::string& doing) const {
    Throw<BrokenEnvironment>("transport", "rank {} stops{} because {} failed: {}", rank, doing,
                             aborted_by < 0 ? "the run" : fmt::format("rank {}", aborted_by),
                             reason);
  }

  const int size;
  const InProcessOptions options;
  std::mutex mutex;
  Mailbox mailbox;
  WaitChain chain;
  std::deque<std::condition_variable> changed;  // one a rank: its messages, or an abort
  std::atomic<bool> aborted{false};             // set after the two below, never cleared
  int aborted_by = -1;
  std::string reason;
  std::vector<std::atomic<uint64_t>> sent;
  std::vector<std::unique_ptr<Transport>> transports;
};

class InProcessTransport : public Transport {
 public:
  using State = InProcessWorld::State;
  InProcessTransport(State& state, int rank) : state_(state), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return state_.size; }
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override;
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override;
  void Abort(const std::string& reason) override { AbortWorld(state_, rank_, reason); }
  void ThrowIfAborted() const override {
    if (state_.aborted.load(std::memory_order_acquire)) state_.ThrowAborted(rank_, "");
  }
  uint64_t BytesSent(int peer, TagClass kind) const override {
    return state_.Sent(rank_, peer, kind).load(std::memory_order_relaxed);
  }

  static void AbortWorld(State& state, int rank, const std::string& reason);

 private:
  class Transfer;
  Pending Post(Message message, Device device);

  State& state_;
  int rank_;
};

// A posted message, seen by the rank that posted it.
class InProcessTransport::Transfer : public Pending::State {
 public:
  Transfer(InProcessWorld::State& state, std::shared_ptr<Message> message)
      : state_(state), message_(std::move(message)) {}

  ~Transfer() override {
    std::unique_lock lock(state_.mutex);
    // The peer is reading our memory: a copy ends soon, whatever else has failed.
    changed().wait(lock, [&] { return !message_->moving; });
    if (!message_->done) state_.mailbox.Withdraw(message_);
  }

  WaitTime Wait() override {
    WaitTime time;
    const Clock::time_point begin = Clock::now();
    std::unique_lock lock(state_.mutex);
    WaitUntilReady(lock, begin);
    time.blocked = NanosecondsSince(begin);
    if (!message_->sends) {
      Move(lock);
      time.moving = NanosecondsSince(begin) - time.blocked;
    }
    state_.chain.progress(message_->rank()).fetch_add(1, std::memory_order_relaxed);
    return time;
  }

  bool Done() override {
    const std::lock_guard lock(state_.mutex);
    return Ready();
  }

 private:
  std::condition_variable& changed() { return state_.changed[message_->rank()]; }

  // A receive is ready once its send is there, a send once the receiver has copied. Throws what was
  // wrong at posting.
  bool Ready() const {
    if (!message_->error.empty()) throw BadInput(message_->error);
    return message_->sends ? message_->done : message_->match != nullptr;
  }

  void WaitUntilReady(std::unique_lock<std::mutex>& lock, Clock::time_point begin) {
    if (Ready()) return;
    struct Waiting {
      WaitChain& chain;
      int rank;
      ~Waiting() { chain.End(rank); }
    };
    state_.chain.Begin(message_->rank(), message_->peer(), message_->what);
    const Waiting waiting{state_.chain, message_->rank()};
    const Clock::duration timeout = ToDuration(state_.options.timeout);
    const Clock::duration slice = ToDuration(std::min(state_.options.timeout / 4, 1.0));
    Clock::time_point deadline = begin + timeout, look = begin + slice;
    std::vector<uint64_t> seen = state_.chain.Look();
    while (!Ready()) {
      if (state_.aborted) state_.ThrowAborted(message_->rank(), Doing());
      changed().wait_until(lock, look);
      const Clock::time_point now = Clock::now();
      if (now < look) continue;
      look = now + slice;
      if (state_.chain.Moved(message_->rank(), seen)) deadline = now + timeout;
      seen = state_.chain.Look();
      if (now >= deadline && !Ready() && !state_.aborted) ThrowTimeout(begin);
    }
  }

  std::string Doing() const {
    return fmt::format(" waiting for rank {} to {} {} bytes, tag {} ({}),", message_->peer(),
                       message_->sends ? "receive" : "send", message_->bytes,
                       ToString(message_->tag), message_->what);
  }

  // Aborts the world in the same breath: another rank whose time is up right now must not take this
  // one, which no longer waits, for the one that hangs.
  [[noreturn]] void ThrowTimeout(Clock::time_point begin) const {
    const std::string text = fmt::format(
        "[transport] rank {} gave up after {:.2f} s{} and {:.2f} s without a sign of life: {}",
        message_->rank(), Seconds(Clock::now() - begin).count(), Doing(), state_.options.timeout,
        state_.chain.Describe(message_->rank()));
    state_.Abort(message_->rank(), text);
    throw BrokenEnvironment(text);
  }

  void Move(std::unique_lock<std::mutex>& lock) {
    const std::shared_ptr<Message> send = message_->match;
    send->moving = true;
    lock.unlock();
    if (send->bytes > 0) std::memcpy(message_->target, send->source, send->bytes);
    lock.lock();
    send->moving = false;
    send->done = message_->done = true;
    send->match.reset();  // the two point at each other
    message_->match.reset();
    state_.Sent(send->from, send->to, send->tag.kind)
        .fetch_add(send->bytes, std::memory_order_relaxed);
    state_.changed[send->from].notify_all();
  }

  InProcessWorld::State& state_;
  std::shared_ptr<Message> message_;
};

Pending InProcessTransport::Send(int peer, Tag tag, ConstBuffer buffer, std::string what) {
  Message message{.sends = true, .from = rank_, .to = peer, .tag = tag, .bytes = buffer.bytes};
  message.source = buffer.data;
  message.what = std::move(what);
  return Post(std::move(message), buffer.device);
}

Pending InProcessTransport::Recv(int peer, Tag tag, Buffer buffer, std::string what) {
  Message message{.sends = false, .from = peer, .to = rank_, .tag = tag, .bytes = buffer.bytes};
  message.target = buffer.data;
  message.what = std::move(what);
  return Post(std::move(message), buffer.device);
}

Pending InProcessTransport::Post(Message message, Device device) {
  Require(message.peer() >= 0 && message.peer() < state_.size, "transport",
          "peer must be below {}, got {} ({})", state_.size, message.peer(), message.what);
  Require(device.kind == DeviceKind::kCpu, "transport",
          "the in-process transport moves cpu memory, got {} ({})", ToString(device), message.what);
  auto shared = std::make_shared<Message>(std::move(message));
  const std::lock_guard lock(state_.mutex);
  state_.mailbox.Post(shared);
  if (shared->match) {
    CheckSizes(*shared, *shared->match);
    state_.changed[shared->peer()].notify_all();
  }
  return Pending(std::make_unique<Transfer>(state_, std::move(shared)));
}

void InProcessTransport::AbortWorld(State& state, int rank, const std::string& reason) {
  const std::lock_guard lock(state.mutex);
  state.Abort(rank, reason);
}

InProcessWorld::InProcessWorld(int size, InProcessOptions options) {
  Require(size >= 1, "transport", "needs at least one rank, got {}", size);
  Require(options.timeout > 0, "transport", "the timeout must be positive, got {} s",
          options.timeout);
  state_ = std::make_unique<State>(size, options);
  for (int rank = 0; rank < size; ++rank) {
    state_->transports.push_back(std::make_unique<InProcessTransport>(*state_, rank));
  }
}

InProcessWorld::~InProcessWorld() = default;

int InProcessWorld::size() const { return state_->size; }
double InProcessWorld::timeout() const { return state_->options.timeout; }
bool InProcessWorld::aborted() const { return state_->aborted; }
int InProcessWorld::aborted_by() const { return state_->aborted ? state_->aborted_by : -1; }

Transport& InProcessWorld::transport(int rank) {
  Require(rank >= 0 && rank < size(), "transport", "rank must be below {}, got {}", size(), rank);
  return *state_->transports[rank];
}

ProgressCounter& InProcessWorld::progress(int rank) { return state_->chain.progress(rank); }

void InProcessWorld::Abort(int rank, const std::string& reason) {
  InProcessTransport::AbortWorld(*state_, rank, reason);
}

uint64_t InProcessWorld::BytesSent(int from, int to, TagClass kind) const {
  return state_->Sent(from, to, kind).load(std::memory_order_relaxed);
}

}  // namespace torus::parallel
