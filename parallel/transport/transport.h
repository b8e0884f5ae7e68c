// Transport: moves bytes between ranks. It knows neither tensors nor codecs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "parallel/transport/tag.h"
#include "runtime/device.h"

namespace torus::parallel {

// Memory to read from or write to. It must stay as it is until the Pending made of it has been
// waited for.
struct ConstBuffer {
  const void* data = nullptr;
  size_t bytes = 0;
  Device device = {};
};
struct Buffer {
  void* data = nullptr;
  size_t bytes = 0;
  Device device = {};
};

// Where the time of a Wait went, in nanoseconds. A transport that cannot tell the two apart calls
// all of it blocked.
struct WaitTime {
  int64_t blocked = 0;  // until the other side was there
  int64_t moving = 0;   // copying bytes
};

// A send or receive under way. Wait for each: a receive's bytes are there, and a send's buffer free
// again, only when Wait has returned. Dropping one that was not waited for withdraws it (an
// exception is unwinding the rank); then the buffer is not touched any more once the destructor has
// returned.
class [[nodiscard]] Pending {
 public:
  class State {
   public:
    virtual ~State() = default;
    virtual WaitTime Wait() = 0;
    virtual bool Done() = 0;
  };
  Pending() = default;  // nothing under way
  explicit Pending(std::unique_ptr<State> state) : state_(std::move(state)) {}

  // Whether Wait would return at once.
  bool Done() const { return state_ == nullptr || state_->Done(); }
  // Blocks until done; at once when nothing is under way, or the second time. BrokenEnvironment
  // when the deadline passed without a sign of life of the peer, naming rank, peer, tag, bytes,
  // elapsed time and what was waited for, (that aborts the run),
  // and when a rank has aborted. BadInput naming both sizes
  // when sender and receiver disagree on them.
  WaitTime Wait() {
    if (!state_) return {};
    const std::unique_ptr<State> state = std::move(state_);
    return state->Wait();
  }

 private:
  std::unique_ptr<State> state_;
};

// One rank's end. Used by that rank's thread alone, but Abort, which any thread may call.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // The rank as errors name it, which differs from rank() in a group of a larger world.
  virtual int world_rank() const { return rank(); }

  // Start a message to or from `peer` (0..size-1, this rank too). Neither blocks. Both sides must
  // name the same tag and the same number of bytes. `what` tells a person what it is ("activation
  // of micro-batch 2, step 17, stage 1") and stands in the errors of Wait.
  [[nodiscard]] virtual Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) = 0;
  [[nodiscard]] virtual Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) = 0;

  // Stops the run: everyone who waits, or waits later, gets a BrokenEnvironment with this rank and
  // `reason`. The first call counts; later ones change nothing.
  virtual void Abort(const std::string& reason) = 0;
  // Throws that error if some rank has aborted; for the time between waits.
  virtual void ThrowIfAborted() const = 0;

  // Payload bytes that this rank has sent to `peer` so far (those that arrived).
  virtual uint64_t BytesSent(int peer, TagClass kind) const = 0;
};

}  // namespace torus::parallel
