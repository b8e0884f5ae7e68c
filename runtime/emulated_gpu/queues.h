// Streams and events of the emulated GPUs: queues that run as lazily as possible.
//
// Work in a stream runs only when someone waits for it: the host (WaitForStream, WaitForEvent), or
// another stream whose own work is waited for. So if a wait is missing, the old values are read,
// every time. Work runs on the waiting thread, one piece at a time in the whole process, and each
// piece is progress of that thread (runtime/progress.h). An
// exception in it is thrown on that thread, and the queue continues after it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace torus::emulated_gpu {

// CUDA's current device of the calling thread; initially 0.
int CurrentDevice();
// Throws BrokenEnvironment if the device does not exist.
void SetCurrentDevice(int device);

// Creates a stream of the current device. A destroyed stream keeps the work that it has not run
// yet.
StreamHandle MakeStream();
void DropStream(StreamHandle stream);
// The GPU of a stream; the current one for the null stream.
int DeviceOf(StreamHandle stream);

// Appends `work` to the stream; null is the current device's default stream. `name` is for
// messages. Throws BrokenEnvironment if the stream belongs to another device than the current one,
// as CUDA demands of launches.
void Enqueue(StreamHandle stream, const std::string& name, std::function<void()> work);
// The same for work that also waits for other threads: it runs once `ready`, which may call
// TryReach, returns true. Whoever waits for the work polls `ready`, and lets other threads run
// meanwhile.
void EnqueueWhenReady(StreamHandle stream, const std::string& name, std::function<bool()> ready,
                      std::function<void()> work);
// Runs all work in the stream.
void WaitForStream(StreamHandle stream);
// Runs all work in the device's streams, then throws the first error that occurred.
void WaitForDevice(int device);

struct SeenLaunch;  // block.h

// Is shown what GPUs are given, each launch and copy when its turn in its stream comes: those of a
// graph at each replay.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnLaunch(const SeenLaunch& launch) = 0;
  virtual void OnCopy(void* to, const void* from, size_t bytes, StreamHandle stream) = 0;
};

// Memory of one GPU while it is observed: that of an H100.
inline constexpr size_t kObservedMemoryBytes = size_t{79} << 30;

// While it is alive, `observer` is shown the work of all GPUs, which is then not done. Their memory
// holds zeros and takes memory of the host only where it is touched. There may be one at a time;
// throws InternalError if there is another, or if memory of a GPU was taken before the first.
class Observed {
 public:
  explicit Observed(Observer& observer);
  ~Observed();
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  // The observer, or null.
  static Observer* Current();
};

// An event is done until it is first recorded.
void* MakeEvent();
void DropEvent(void* event);
void RecordEvent(void* event, StreamHandle stream);
void WaitForEvent(void* event);
// Work added to the stream from now on runs after the event's current point.
void StreamWaitsForEvent(StreamHandle stream, void* event);
// The work added to a stream while it was recorded, in order.
using Recording = std::vector<std::function<void()>>;

// Starts recording: work added to the stream is recorded and not run. The stream must come from
// MakeStream. Like CUDA's capture in thread-local mode, but for one stream only: until the end, the
// calling thread must not wait for anything, query an event, or connect the stream to another. Such
// a call throws BrokenEnvironment with the name of CUDA's error, and so does the end of the
// recording then.
void BeginRecording(StreamHandle stream);
std::shared_ptr<const Recording> EndRecording(StreamHandle stream);
// Ends a recording and discards it.
void DropRecording(StreamHandle stream) noexcept;
// Appends the whole recording to a stream, as a single piece of work of its device.
void Replay(std::shared_ptr<const Recording> recording, StreamHandle stream);

// Runs the work before the event as far as possible now. Returns whether all of it has run.
bool TryReach(void* event);
// Returns whether the event is done, then runs one more piece of the work before it. So polling
// finishes eventually, while a single query shows that the event may not be done yet.
bool EventIsDone(void* event);

}  // namespace torus::emulated_gpu
