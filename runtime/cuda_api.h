// The few calls of the CUDA runtime that Torus makes from C++ files, without CUDA's headers. Only
// in a build with --config=cuda, or with --config=emulated_gpu, where runtime/emulated_gpu is the
// CUDA runtime. Errors are BrokenEnvironment with CUDA's reason. Streams and
// events are handles of cudaStream_t and cudaEvent_t; a null stream is the default one.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "runtime/device.h"

namespace torus::cuda {

using EventHandle = void*;

// GPUs that can be used; 0 without a driver.
int DeviceCount();
// What no other GPU of any machine has (cudaDeviceProp::uuid).
std::array<unsigned char, 16> IdOf(int device);
// Makes `device` the calling thread's GPU.
void UseDevice(int device);

// Null when the GPU has no more.
void* Malloc(int device, size_t bytes);
void Free(int device, void* block) noexcept;

// Memory of the host that all GPUs copy from and to by themselves, while the host goes on
// (cudaHostAlloc); null when the system gives no more.
void* MallocHost(size_t bytes);
void FreeHost(void* block) noexcept;

// Between any two of host and GPU memory, in stream order.
void CopyBytes(void* to, const void* from, size_t bytes, StreamHandle stream);

StreamHandle CreateStream(int device);
void DestroyStream(StreamHandle stream) noexcept;
void Synchronize(StreamHandle stream);

EventHandle CreateEvent(int device);
void DestroyEvent(EventHandle event) noexcept;
void Record(EventHandle event, StreamHandle stream);
bool IsDone(EventHandle event);
void WaitOnHost(EventHandle event);
void WaitOnStream(StreamHandle stream, EventHandle event);

// A graph is work that can be put into streams again and again.
using GraphHandle = void*;

// What the stream, which is not the default one, is given from now on is recorded and not run
// (cudaStreamBeginCapture). What the calling thread may not do meanwhile, above all wait for the
// GPU, throws and spoils the recording.
void BeginCapture(StreamHandle stream);
// The graph of it, ready to be launched.
GraphHandle EndCapture(StreamHandle stream);
// Ends a recording of which nothing is wanted.
void DropCapture(StreamHandle stream) noexcept;
void LaunchGraph(GraphHandle graph, StreamHandle stream);
// A launch that has not ended goes on.
void DestroyGraph(GraphHandle graph) noexcept;

// Throws for the last launch's error, tagged `op`.
void CheckLaunch(std::string_view op);

}  // namespace torus::cuda
