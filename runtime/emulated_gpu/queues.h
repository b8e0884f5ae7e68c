// Streams and events of the emulated GPUs: queues as lazy as they may be.
//
// Work that is put into a stream runs only when someone waits for it: the host (WaitForStream,
// WaitForEvent), or another stream whose own work is waited for. So where a wait is missing, values
// are those of before, every time. Work runs on the thread that waits, one piece at a time in the
// whole process. What it throws comes out there, and the queue goes on behind it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace torus::emulated_gpu {

// CUDA's current device of the calling thread, 0 at first.
int CurrentDevice();
// BrokenEnvironment for a device that is not there.
void SetCurrentDevice(int device);

// Of the current device. A stream that is destroyed keeps what it has not run yet.
StreamHandle MakeStream();
void DropStream(StreamHandle stream);
// The GPU of a stream; of the null stream, the current one.
int DeviceOf(StreamHandle stream);

// Puts `work` behind all that the stream has; null is the current device's default stream. `name`
// is for messages. BrokenEnvironment where the stream is of another device than the current one, as
// CUDA demands of launches.
void Enqueue(StreamHandle stream, const std::string& name, std::function<void()> work);
// The same for work that also waits for what other threads will do: it runs once `ready` says yes,
// which may call TryReach. Who waits for it asks again and again, and lets the others go on.
void EnqueueWhenReady(StreamHandle stream, const std::string& name, std::function<bool()> ready,
                      std::function<void()> work);
// Runs all that the stream has.
void WaitForStream(StreamHandle stream);
// Runs all that the streams of the device have, and then throws the first error of it.
void WaitForDevice(int device);

// An event is done until it is first recorded.
void* MakeEvent();
void DropEvent(void* event);
void RecordEvent(void* event, StreamHandle stream);
void WaitForEvent(void* event);
// What the stream is given from now on runs after what the event stands for now.
void StreamWaitsForEvent(StreamHandle stream, void* event);
// What a stream was given while it was recorded, in its order.
using Recording = std::vector<std::function<void()>>;

// What the stream is given from now on is recorded and not run. It must be one that MakeStream
// made. As CUDA's capture in its thread-local mode, but for one stream alone: meanwhile the calling
// thread may wait for nothing, ask no event, and tie the stream to no other. Such a call is
// BrokenEnvironment with the name of CUDA's error, and so is then the end of the recording.
void BeginRecording(StreamHandle stream);
std::shared_ptr<const Recording> EndRecording(StreamHandle stream);
// Ends a recording of which nothing is wanted.
void DropRecording(StreamHandle stream) noexcept;
// Puts all of it into a stream, as one piece of its device's work.
void Replay(std::shared_ptr<const Recording> recording, StreamHandle stream);

// Runs what the event stands for as far as it can be run now; whether all of it has run.
bool TryReach(void* event);
// Answers, and then runs one more piece of what the event stands for: who asks again and again gets
// to the end, who asks once learns that it may not be there.
bool EventIsDone(void* event);

}  // namespace torus::emulated_gpu
