#include "parallel/transport/in_process.h"

#include <utility>

#include "parallel/transport/in_process_state.h"
#include "parallel/transport/in_process_transfer.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// If the sizes differ, sets in both messages the error that their Wait throws.
void CheckSizes(Message& a, Message& b) {
  if (a.bytes == b.bytes) return;
  const Message& send = a.sends ? a : b;
  const Message& recv = a.sends ? b : a;
  a.error = b.error = SizesDifferText(send.Text(), recv.Text());
}

void AbortWorld(InProcessState& state, int rank, const std::string& reason) {
  const std::lock_guard lock(state.mutex);
  state.Abort(rank, reason);
}

// An event after the work that the memory's stream holds so far; null for CPU memory.
std::shared_ptr<const Event> ReachedIn(Device device, StreamHandle stream) {
  if (device.kind != DeviceKind::kCuda) return nullptr;
  auto event = std::make_shared<Event>(device);
  event->Record(stream);
  return event;
}

class InProcessTransport : public Transport {
 public:
  InProcessTransport(InProcessState& state, int rank) : state_(state), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return state_.size; }
  bool Moves(Device device) const override { return device.kind != DeviceKind::kMeta; }
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override;
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override;
  void Abort(const std::string& reason) override { AbortWorld(state_, rank_, reason); }
  void ThrowIfAborted() const override {
    if (state_.aborted.load(std::memory_order_acquire)) state_.ThrowAborted(rank_, "");
  }
  uint64_t BytesSent(int peer, TagClass kind) const override {
    return state_.Sent(rank_, peer, kind).load(std::memory_order_relaxed);
  }

 private:
  Pending Post(Message message);

  InProcessState& state_;
  int rank_;
};

Pending InProcessTransport::Send(int peer, Tag tag, ConstBuffer buffer, std::string what) {
  Message message{.sends = true, .from = rank_, .to = peer, .tag = tag, .bytes = buffer.bytes};
  message.source = buffer.data;
  message.device = buffer.device;
  message.reached = ReachedIn(buffer.device, buffer.stream);
  message.what = std::move(what);
  return Post(std::move(message));
}

Pending InProcessTransport::Recv(int peer, Tag tag, Buffer buffer, std::string what) {
  Message message{.sends = false, .from = peer, .to = rank_, .tag = tag, .bytes = buffer.bytes};
  message.target = buffer.data;
  message.device = buffer.device;
  message.reached = ReachedIn(buffer.device, buffer.stream);
  message.what = std::move(what);
  return Post(std::move(message));
}

Pending InProcessTransport::Post(Message message) {
  Require(message.peer() >= 0 && message.peer() < state_.size, "transport",
          "peer must be below {}, got {} ({})", state_.size, message.peer(), message.what);
  auto shared = std::make_shared<Message>(std::move(message));
  const std::lock_guard lock(state_.mutex);
  state_.mailbox.Post(shared);
  if (shared->match) {
    CheckSizes(*shared, *shared->match);
    state_.changed[shared->peer()].notify_all();
  }
  return Pending(std::make_unique<InProcessTransfer>(state_, std::move(shared)));
}

}  // namespace

InProcessWorld::InProcessWorld(int size, InProcessOptions options) {
  Require(size >= 1, "transport", "needs at least one rank, got {}", size);
  Require(options.timeout > 0 && options.timeout <= kLongestTimeout, "transport",
          "the timeout must be above 0 and at most {} seconds, got {}", kLongestTimeout,
          options.timeout);
  state_ = std::make_shared<InProcessState>(size, options);
  for (int rank = 0; rank < size; ++rank) {
    state_->transports.push_back(std::make_unique<InProcessTransport>(*state_, rank));
  }
}

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
  AbortWorld(*state_, rank, reason);
}

uint64_t InProcessWorld::BytesSent(int from, int to, TagClass kind) const {
  return state_->Sent(from, to, kind).load(std::memory_order_relaxed);
}

}  // namespace torus::parallel
