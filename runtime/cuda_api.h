// The few CUDA runtime calls that Torus makes from C++ files, without CUDA's headers. Only in
// builds with --config=cuda, or with --config=emulated_gpu, where runtime/emulated_gpu replaces the
// CUDA runtime. Errors are thrown as BrokenEnvironment with CUDA's reason. Streams and events are
// cudaStream_t and cudaEvent_t handles; a null stream is the default one.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "runtime/device.h"

namespace torus::cuda {

using EventHandle = void*;

// The number of usable GPUs; 0 without a driver.
int DeviceCount();
// A globally unique id of the GPU (cudaDeviceProp::uuid).
std::array<unsigned char, 16> IdOf(int device);
// Makes `device` the calling thread's GPU.
void UseDevice(int device);

// Returns null if the GPU has no memory left.
void* Malloc(int device, size_t bytes);
void Free(int device, void* block) noexcept;

// Whether a thread of the process has selected a GPU. Memory is pinned with such a GPU, so that
// pinning makes no context on another.
bool CanPin();
// Pinned host memory (cudaHostAlloc), which all GPUs copy from and to while the host continues.
// Returns null if the system has no memory left. Throws BrokenEnvironment unless CanPin().
void* MallocHost(size_t bytes);
void FreeHost(void* block) noexcept;

// Copies between or within host and GPU memory, in stream order.
void CopyBytes(void* to, const void* from, size_t bytes, StreamHandle stream);

// Lets copies between two GPUs go from one to the other, where the hardware can, instead of through
// the host's memory (cudaDeviceEnablePeerAccess). Does its work once a pair, and never throws an
// error of CUDA.
void ConnectMemories(int one, int other);

StreamHandle CreateStream(int device);
void DestroyStream(StreamHandle stream) noexcept;
void Synchronize(StreamHandle stream);

EventHandle CreateEvent(int device);
void DestroyEvent(EventHandle event) noexcept;
void Record(EventHandle event, StreamHandle stream);
bool IsDone(EventHandle event);
void WaitOnHost(EventHandle event);
void WaitOnStream(StreamHandle stream, EventHandle event);

// A CUDA graph: recorded work that can be launched repeatedly.
using GraphHandle = void*;

// Starts recording: work submitted to the stream, which must not be the default one, is recorded
// and not run (cudaStreamBeginCapture). Calls that are forbidden while recording, above all waiting
// for the GPU, throw and invalidate the recording.
void BeginCapture(StreamHandle stream);
// Ends the recording and returns its graph, ready for launch.
GraphHandle EndCapture(StreamHandle stream);
// Ends a recording and discards it.
void DropCapture(StreamHandle stream) noexcept;
void LaunchGraph(GraphHandle graph, StreamHandle stream);
// A launch that is still running continues.
void DestroyGraph(GraphHandle graph) noexcept;

// Throws BrokenEnvironment tagged `op` if the last kernel launch failed.
void CheckLaunch(std::string_view op);

}  // namespace torus::cuda
