#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "runtime/cuda_api.h"
#include "runtime/error.h"
#include "runtime/host_wait.h"
#include "runtime/thread_gpu.h"

namespace torus::cuda {
namespace {

// CUDA keeps the error of a failed call until somebody asks for it. Whoever handles or drops an
// error clears it, so that the next CheckLaunch does not take it for its own.
bool Succeeded(cudaError_t error) noexcept {
  if (error == cudaSuccess) return true;
  cudaGetLastError();
  return false;
}

void Check(cudaError_t error, const char* call) {
  if (!Succeeded(error))
    Throw<BrokenEnvironment>("cuda", "{}: {}", call, cudaGetErrorString(error));
}

// For calls whose failure nobody can be told.
void Drop(cudaError_t error) noexcept { Succeeded(error); }

// During a recording, CUDA refuses calls that may wait, such as memory allocation. This scope
// allows calls that the recording does not depend on.
class BesideCapture {
 public:
  BesideCapture() { Drop(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~BesideCapture() { Drop(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  BesideCapture(const BesideCapture&) = delete;
  BesideCapture& operator=(const BesideCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

cudaStream_t Native(StreamHandle stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t NativeEvent(EventHandle event) { return static_cast<cudaEvent_t>(event); }

}  // namespace

int DeviceCount() {
  int count = 0;
  return Succeeded(cudaGetDeviceCount(&count)) ? count : 0;
}

std::array<unsigned char, 16> IdOf(int device) {
  cudaDeviceProp properties;
  Check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  std::array<unsigned char, 16> id;
  static_assert(sizeof properties.uuid == sizeof id);
  std::memcpy(id.data(), &properties.uuid, sizeof id);
  return id;
}

void UseDevice(int device) {
  Check(cudaSetDevice(device), "cudaSetDevice");
  ThreadGpu::Note(device);
}

void* Malloc(int device, size_t bytes) {
  UseDevice(device);
  const BesideCapture beside;
  void* block = nullptr;
  const cudaError_t error = cudaMalloc(&block, bytes);
  if (error == cudaErrorMemoryAllocation) {
    Drop(error);  // the caller says it better
    return nullptr;
  }
  Check(error, "cudaMalloc");
  return block;
}

void Free(int device, void* block) noexcept {
  if (Succeeded(cudaSetDevice(device))) {
    const BesideCapture beside;
    Drop(cudaFree(block));
  }
  if (ThreadGpu::Own() >= 0) Drop(cudaSetDevice(ThreadGpu::Own()));
}

bool CanPin() { return ThreadGpu::ForPinning() >= 0; }

void* MallocHost(size_t bytes) {
  if (!CanPin())
    Throw<BrokenEnvironment>("cuda", "memory is pinned once a GPU has been selected, none has");
  Check(cudaSetDevice(ThreadGpu::ForPinning()), "cudaSetDevice");
  const BesideCapture beside;
  void* block = nullptr;
  const cudaError_t error = cudaHostAlloc(&block, bytes, cudaHostAllocPortable);
  if (error == cudaErrorMemoryAllocation) {
    Drop(error);  // the caller says it better
    return nullptr;
  }
  Check(error, "cudaHostAlloc");
  return block;
}

// On a thread without a GPU, CUDA would make a context on GPU 0 for it.
void FreeHost(void* block) noexcept {
  Drop(cudaSetDevice(ThreadGpu::ForPinning()));
  const BesideCapture beside;
  Drop(cudaFreeHost(block));
}

void CopyBytes(void* to, const void* from, size_t bytes, StreamHandle stream) {
  Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, Native(stream)), "cudaMemcpyAsync");
}

namespace {

// If it fails, copies go through the host's memory as before: GPUs have room for a few peers only.
void ReachMemoryOf(int device, int owner) noexcept {
  int can = 0;
  if (!Succeeded(cudaDeviceCanAccessPeer(&can, device, owner)) || can == 0) return;
  if (Succeeded(cudaSetDevice(device))) Drop(cudaDeviceEnablePeerAccess(owner, 0));
}

}  // namespace

void ConnectMemories(int one, int other) {
  static std::mutex mutex;
  static std::set<std::pair<int, int>> connected;
  const std::lock_guard lock(mutex);
  if (!connected.insert(std::minmax(one, other)).second) return;
  const BesideCapture beside;
  ReachMemoryOf(one, other);
  ReachMemoryOf(other, one);
  if (ThreadGpu::Own() >= 0) Drop(cudaSetDevice(ThreadGpu::Own()));
}

StreamHandle CreateStream(int device) {
  UseDevice(device);
  cudaStream_t stream = nullptr;
  Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

void DestroyStream(StreamHandle stream) noexcept { Drop(cudaStreamDestroy(Native(stream))); }

namespace {

// Whether waiting is over, or fails, which the wait itself then reports.
bool IsOver(cudaError_t state) {
  if (state != cudaSuccess) cudaGetLastError();  // the next CheckLaunch must not find it
  return state != cudaErrorNotReady;
}

}  // namespace

void Synchronize(StreamHandle stream) {
  WaitAlive([&] { return IsOver(cudaStreamQuery(Native(stream))); });
  Check(cudaStreamSynchronize(Native(stream)), "cudaStreamSynchronize");
}

EventHandle CreateEvent(int device) {
  UseDevice(device);
  cudaEvent_t event = nullptr;
  Check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  return event;
}

void DestroyEvent(EventHandle event) noexcept { Drop(cudaEventDestroy(NativeEvent(event))); }

void Record(EventHandle event, StreamHandle stream) {
  Check(cudaEventRecord(NativeEvent(event), Native(stream)), "cudaEventRecord");
}

bool IsDone(EventHandle event) {
  const cudaError_t state = cudaEventQuery(NativeEvent(event));
  if (state == cudaErrorNotReady) {
    Drop(state);
    return false;
  }
  Check(state, "cudaEventQuery");
  return true;
}

void WaitOnHost(EventHandle event) {
  WaitAlive([&] { return IsOver(cudaEventQuery(NativeEvent(event))); });
  Check(cudaEventSynchronize(NativeEvent(event)), "cudaEventSynchronize");
}

void WaitOnStream(StreamHandle stream, EventHandle event) {
  Check(cudaStreamWaitEvent(Native(stream), NativeEvent(event), 0), "cudaStreamWaitEvent");
}

void BeginCapture(StreamHandle stream) {
  Check(cudaStreamBeginCapture(Native(stream), cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
}

GraphHandle EndCapture(StreamHandle stream) {
  cudaGraph_t recorded = nullptr;
  Check(cudaStreamEndCapture(Native(stream), &recorded), "cudaStreamEndCapture");
  cudaGraphExec_t graph = nullptr;
  const cudaError_t made = cudaGraphInstantiate(&graph, recorded, 0);
  Drop(cudaGraphDestroy(recorded));
  Check(made, "cudaGraphInstantiate");
  return graph;
}

void DropCapture(StreamHandle stream) noexcept {
  cudaGraph_t recorded = nullptr;
  Drop(cudaStreamEndCapture(Native(stream), &recorded));
  if (recorded != nullptr) Drop(cudaGraphDestroy(recorded));
  cudaGetLastError();  // the cause of the failed recording
}

void LaunchGraph(GraphHandle graph, StreamHandle stream) {
  Check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), Native(stream)), "cudaGraphLaunch");
}

void DestroyGraph(GraphHandle graph) noexcept {
  Drop(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)));
}

void CheckLaunch(std::string_view op) {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess)
    Throw<BrokenEnvironment>(op, "launch failed: {}", cudaGetErrorString(error));
}

}  // namespace torus::cuda
