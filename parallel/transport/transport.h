// Transport: moves bytes between ranks. It knows neither tensors nor codecs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parallel/transport/tag.h"
#include "runtime/device.h"

namespace torus::parallel {

// Memory to send from or to receive into. The caller keeps it allocated, and does not change the
// bytes of a send, until Wait of the Pending has returned. The message of a GPU's memory comes
// behind all work that `stream` of that GPU holds when it is started.
struct ConstBuffer {
  const void* data = nullptr;
  size_t bytes = 0;
  Device device = {};
  StreamHandle stream = nullptr;
};
struct Buffer {
  void* data = nullptr;
  size_t bytes = 0;
  Device device = {};
  StreamHandle stream = nullptr;
};

// What a Wait spent its time on, in nanoseconds. A transport that cannot tell the two apart counts
// all of it as blocked.
struct WaitTime {
  int64_t blocked = 0;  // until the peer had started its side of the message
  int64_t moving = 0;   // while the bytes were copied
};

// A send or receive that has been started. After Wait the bytes of a receive are there, and the
// buffer of a send may be changed. Destroying one without Wait, as an exception does, cancels it;
// once the destructor has returned, its buffer is no longer used. The other side's message never
// arrives then, also if it is started later.
class [[nodiscard]] Pending {
 public:
  class State {
   public:
    virtual ~State() = default;
    virtual WaitTime Wait() = 0;
    virtual WaitTime WaitOn(StreamHandle stream) {
      static_cast<void>(stream);
      return Wait();
    }
    virtual bool Done() = 0;
  };
  Pending() = default;  // nothing started
  explicit Pending(std::unique_ptr<State> state) : state_(std::move(state)) {}

  // Whether Wait would return at once.
  bool Done() const { return state_ == nullptr || state_->Done(); }
  // Blocks until the message has arrived; returns at once when nothing was started, and when called
  // again. BrokenEnvironment when the deadline passes without progress of the peer (this aborts the
  // run; the message names rank, peer, tag, bytes, elapsed time and what was waited for), and when
  // a rank has aborted the run. BadInput, naming both sizes, when sender and receiver give
  // different ones.
  WaitTime Wait() {
    if (!state_) return {};
    const std::unique_ptr<State> state = std::move(state_);
    return state->Wait();
  }
  // Work put into `stream`, of the buffer's device, from now on comes behind the message; the
  // buffer belongs to the message until the stream has come there. For a GPU's memory this waits
  // only until the peer has started its side of a receive, with the deadline and errors of Wait;
  // otherwise it is Wait.
  WaitTime WaitOn(StreamHandle stream) {
    if (!state_) return {};
    const std::unique_ptr<State> state = std::move(state_);
    return state->WaitOn(stream);
  }

 private:
  std::unique_ptr<State> state_;
};

class Engine;
class SharedRooms;

// One rank's access to the others. Only that rank's thread uses it; Abort and ThrowIfAborted may be
// called by any, and Send by one more thread of the rank, with tags that the rank itself does not
// use.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // The rank's number in the whole run, which errors name; in a Group it differs from rank().
  virtual int world_rank() const { return rank(); }
  // The ranks of this transport that share a host, and so its cores, with this one, which is among
  // them; ascending. By default all.
  virtual std::vector<int> SameHost() const;
  // Whether Send and Recv take memory of `device`. What they do not take must be copied to the CPU
  // first.
  virtual bool Moves(Device device) const { return device.kind == DeviceKind::kCpu; }

  // Start a message to or from `peer` (0..size-1, this rank too). Neither blocks. Both sides give
  // the same tag and the same number of bytes; those of one tag are paired in order. `what`
  // describes the message in the errors of Wait ("activation of micro-batch 2, step 17, stage 1").
  [[nodiscard]] virtual Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) = 0;
  [[nodiscard]] virtual Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) = 0;

  // Stops the run: every Wait on any rank, now or later, throws a BrokenEnvironment that names this
  // rank and `reason`. Only the first call has an effect.
  virtual void Abort(const std::string& reason) = 0;
  // Throws that error if some rank has aborted. For code that runs long without a Wait.
  virtual void ThrowIfAborted() const = 0;

  // Payload bytes from this rank that have arrived at `peer` so far.
  virtual uint64_t BytesSent(int peer, TagClass kind) const = 0;

  // The collectives of the library that moves the bytes (engine.h) among `members`: ranks of this
  // transport in the order that the engine counts them in, this rank one of them. All members call
  // it together the first time. Lives as long as the transport; null where there are none.
  virtual Engine* EngineOf(const std::vector<int>& members) {
    static_cast<void>(members);
    return nullptr;
  }

  // Memory that `members` share (shared_rooms.h), in the order that its members are counted in,
  // this rank one of them. All members call it together the first time. Lives as long as the
  // transport; null, on all members, where they share none.
  virtual SharedRooms* RoomsOf(const std::vector<int>& members) {
    static_cast<void>(members);
    return nullptr;
  }
};

}  // namespace torus::parallel
