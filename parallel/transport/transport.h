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

// Memory to send from or receive into. The caller keeps it allocated, and does not change the bytes
// of a send, until Wait of the Pending has returned. A message of GPU memory runs after all work
// that `stream` of that GPU holds when the message is started. Members without a comment are as
// their names say; `device` is where `data` lies.
struct ConstBuffer {
  const void* data = nullptr;
  size_t bytes = 0;
  Device device = {};
  StreamHandle stream = nullptr;
};
// The same to receive into. Members without a comment are as in ConstBuffer.
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

// A send or receive in flight. After Wait the bytes of a receive have arrived, and the buffer of a
// send may be changed. Destroying a Pending without Wait, as an exception does, cancels it; once
// the destructor has returned, its buffer is no longer used. The other side's message then never
// completes, even if it is started later.
class [[nodiscard]] Pending {
 public:
  // How a transport implements one; the calls are as those of Pending.
  class State {
   public:
    virtual ~State() = default;
    virtual WaitTime Wait() = 0;  // as that of Pending, called once
    // As Wait, for a stream.
    virtual WaitTime WaitOn(StreamHandle stream) {
      static_cast<void>(stream);
      return Wait();
    }
    virtual bool Done() = 0;  // as that of Pending
  };
  Pending() = default;  // nothing started
  explicit Pending(std::unique_ptr<State> state) : state_(std::move(state)) {}

  // Whether Wait would return at once.
  bool Done() const { return state_ == nullptr || state_->Done(); }
  // Blocks until the message has arrived. Returns at once if nothing was started, or when called
  // again. Throws BrokenEnvironment if the deadline passes without progress of the peer (this
  // aborts the run; the error names rank, peer, tag, bytes, elapsed time and what was waited for),
  // or if a rank has aborted the run. Throws BadInput, naming both sizes, if sender and receiver
  // give different sizes.
  WaitTime Wait() {
    if (!state_) return {};
    const std::unique_ptr<State> state = std::move(state_);
    return state->Wait();
  }
  // Makes `stream`, a stream of the buffer's device, wait for the message: work enqueued from now
  // on runs after it. The message owns the buffer until the stream has reached that point. For GPU
  // memory this call waits only until the peer has started its side too, with the deadline and
  // errors of Wait; otherwise it is the same as Wait.
  WaitTime WaitOn(StreamHandle stream) {
    if (!state_) return {};
    const std::unique_ptr<State> state = std::move(state_);
    return state->WaitOn(stream);
  }

 private:
  std::unique_ptr<State> state_;
};

class Engine;
class SharedBuffers;
struct Topology;

// One rank's access to the other ranks. Only that rank's thread uses it, with two exceptions: any
// thread may call Abort and ThrowIfAborted, and other threads of the rank may call Send, with tags
// that no other thread of it uses. Those that run threads or MPI also let such a thread call Recv.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;  // ranks of this transport
  // The rank's number in the whole run, which errors name; in a Group it differs from rank().
  virtual int world_rank() const { return rank(); }
  // The ranks of this transport that are on this rank's host and so share its cores, including this
  // rank; ascending. By default all.
  virtual std::vector<int> SameHost() const;
  // Whether Send and Recv accept memory of `device`. Other memory must first be copied to the CPU.
  virtual bool Moves(Device device) const { return device.kind == DeviceKind::kCpu; }
  // Whether each of `members`, ranks of this transport that include this one, can send memory of
  // its `device` to each other one now: the same answer on all of them. `device` is this rank's.
  virtual bool MovesAmong(const std::vector<int>& members, Device device) const {
    static_cast<void>(members);
    return Moves(device);
  }

  // Start a message (Send, Recv) to or from `peer` (0..size-1, including this rank). Neither
  // blocks. Both sides give the same tag and the same number of bytes; messages with the same tag
  // are matched in order. `what` describes the message in the errors of Wait ("activation of
  // micro-batch 2, step 17, stage 1").
  [[nodiscard]] virtual Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) = 0;
  [[nodiscard]] virtual Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) = 0;

  // Stops the run: every Wait on any rank, now or later, throws a BrokenEnvironment that names this
  // rank and `reason`. Only the first call has an effect.
  virtual void Abort(const std::string& reason) = 0;
  // Throws that error if a rank has aborted the run. For code that runs long without a Wait.
  virtual void ThrowIfAborted() const = 0;

  // Payload bytes from this rank that have arrived at `peer` so far.
  virtual uint64_t BytesSent(int peer, TagClass kind) const = 0;

  // Payload bytes that this rank would have sent to `peer` so far if the sums of engines
  // (EngineOf), which do not tell what they send, went around a ring of their members (RingBytes).
  virtual uint64_t BytesComputed(int peer) const {
    static_cast<void>(peer);
    return 0;
  }

  // Says between whom GPU memory will move (topology.h). All ranks call it together, with equal
  // arguments and before they send such memory; what was connected before stays. A transport that
  // needs no connections does nothing.
  virtual void Connect(const Topology& topology) { static_cast<void>(topology); }

  // The collectives of the library under this transport (engine.h), among `members`: ranks of this
  // transport that include this one, in the order that gives their numbers in the engine. All
  // members make the first call together. Lives as long as the transport; null if there is none.
  virtual Engine* EngineOf(const std::vector<int>& members) {
    static_cast<void>(members);
    return nullptr;
  }

  // Memory that `members` share (shared_buffers.h); `members` are as for EngineOf. All members make
  // the first call together. Lives as long as the transport; null, on all members, if they share
  // none.
  virtual SharedBuffers* SharedBuffersOf(const std::vector<int>& members) {
    static_cast<void>(members);
    return nullptr;
  }
};

}  // namespace torus::parallel
