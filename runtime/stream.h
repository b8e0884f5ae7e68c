// Streams and events: the order of work on a device. On a CPU, work is done when the call returns,
// so every stream is idle and every event is done; on a GPU they are CUDA streams and events.
#pragma once

#include <array>
#include <string>

#include "runtime/device.h"

namespace torus {

class Event;

// A queue of work on a device, run in order. Not copyable. The destructor does not wait.
class Stream {
 public:
  // Throws BadInput if the GPU does not exist.
  explicit Stream(Device device = {});
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device device() const { return device_; }  // of the queue
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

  // Moves the event to after all work queued in `stream` so far. Throws BadInput if the stream is
  // of another device.
  void Record(Stream& stream);
  // The same for a stream handle of the event's device.
  void Record(StreamHandle stream);
  bool IsDone() const;  // whether all work before it is done
  // Blocks the calling thread until the event is done.
  void Wait() const;
  Device device() const { return device_; }  // of its streams
  void* handle() const { return handle_; }   // cudaEvent_t; null on a CPU

 private:
  Device device_;
  void* handle_ = nullptr;
};

// The stream of `device` that the calling thread's kernels use: that of the innermost WithStream
// for the device, else the default stream.
StreamHandle CurrentStream(Device device);

// Blocks until all work queued so far in the device's current stream is done.
void WaitForWork(Device device);

// While one exists, `stream` is the current stream of its device on the calling thread.
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

// The number of GPUs that this build can use on this machine.
int GpuCount();

// A globally unique id of a GPU: ranks with equal ids share one GPU, on any machine.
using GpuId = std::array<unsigned char, 16>;
// Throws BadInput if `gpu` is not a GPU of this machine.
GpuId IdOf(Device gpu);

// Why there is no GPU: which build or machine is needed.
std::string WhyNoGpu();

}  // namespace torus
