// Streams and events: the order of work on a device. On a CPU work is done when the call that asked
// for it returns, so every stream is always idle and every event done; on a GPU they are CUDA's.
#pragma once

#include <array>
#include <string>

#include "runtime/device.h"

namespace torus {

class Event;

// A queue of a device, run in order. Not copyable; destroying it does not wait.
class Stream {
 public:
  // BadInput for a GPU that is not there.
  explicit Stream(Device device = {});
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device device() const { return device_; }
  // Blocks until all work queued so far is done.
  void Synchronize();
  // Work queued from now on starts after `event`.
  void Wait(const Event& event);
  // cudaStream_t; null on a CPU.
  void* handle() const { return handle_; }

 private:
  Device device_;
  void* handle_ = nullptr;
};

// A point in a stream. Done until it is first recorded.
class Event {
 public:
  explicit Event(Device device = {});
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Moves the event to behind all work queued in `stream` so far; a stream of the same device, else
  // BadInput.
  void Record(Stream& stream);
  // The same with a stream of the event's device by its handle.
  void Record(StreamHandle stream);
  bool IsDone() const;
  // Blocks the calling thread until it is done.
  void Wait() const;
  Device device() const { return device_; }
  void* handle() const { return handle_; }

 private:
  Device device_;
  void* handle_ = nullptr;
};

// The stream of `device` that the calling thread's kernels go to: the innermost WithStream's of
// that device, else the default one.
StreamHandle CurrentStream(Device device);

// While one lives, `stream` is the current one of its device on the calling thread.
class WithStream {
 public:
  explicit WithStream(const Stream& stream);
  ~WithStream();
  WithStream(const WithStream&) = delete;
  WithStream& operator=(const WithStream&) = delete;

 private:
  const Stream& stream_;
  const WithStream* before_;
  friend StreamHandle CurrentStream(Device device);
};

// GPUs of this machine that this build can use.
int GpuCount();

// What tells a GPU from all others, of other machines too: two ranks with the same share one.
using GpuId = std::array<unsigned char, 16>;
// BadInput for what is no GPU that is there.
GpuId IdOf(Device gpu);

// Why there is none: what build or machine it needs.
std::string WhyNoGpu();

}  // namespace torus
