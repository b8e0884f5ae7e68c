#include <cuda_runtime.h>

#include <cstring>

#include "runtime/cuda_api.h"
#include "runtime/error.h"
#include "runtime/thread_gpu.h"

namespace torus::cuda {
namespace {

void Check(cudaError_t error, const char* call) {
  if (error != cudaSuccess)
    Throw<BrokenEnvironment>("cuda", "{}: {}", call, cudaGetErrorString(error));
}

// During a recording, CUDA refuses calls that may wait, such as memory allocation. This scope
// allows calls that the recording does not depend on.
class BesideCapture {
 public:
  BesideCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~BesideCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
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
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
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
    cudaGetLastError();  // forget it: the caller says it better
    return nullptr;
  }
  Check(error, "cudaMalloc");
  return block;
}

void Free(int device, void* block) noexcept {
  const BesideCapture beside;
  if (cudaSetDevice(device) == cudaSuccess) cudaFree(block);
  if (ThreadGpu::Own() >= 0) cudaSetDevice(ThreadGpu::Own());
}

void* MallocHost(size_t bytes) {
  Check(cudaSetDevice(ThreadGpu::ForPinning()), "cudaSetDevice");
  const BesideCapture beside;
  void* block = nullptr;
  const cudaError_t error = cudaHostAlloc(&block, bytes, cudaHostAllocPortable);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // forget it: the caller says it better
    return nullptr;
  }
  Check(error, "cudaHostAlloc");
  return block;
}

void FreeHost(void* block) noexcept {
  const BesideCapture beside;
  cudaFreeHost(block);
}

void CopyBytes(void* to, const void* from, size_t bytes, StreamHandle stream) {
  Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, Native(stream)), "cudaMemcpyAsync");
}

StreamHandle CreateStream(int device) {
  UseDevice(device);
  cudaStream_t stream = nullptr;
  Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

void DestroyStream(StreamHandle stream) noexcept { cudaStreamDestroy(Native(stream)); }

void Synchronize(StreamHandle stream) {
  Check(cudaStreamSynchronize(Native(stream)), "cudaStreamSynchronize");
}

EventHandle CreateEvent(int device) {
  UseDevice(device);
  cudaEvent_t event = nullptr;
  Check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  return event;
}

void DestroyEvent(EventHandle event) noexcept { cudaEventDestroy(NativeEvent(event)); }

void Record(EventHandle event, StreamHandle stream) {
  Check(cudaEventRecord(NativeEvent(event), Native(stream)), "cudaEventRecord");
}

bool IsDone(EventHandle event) {
  const cudaError_t state = cudaEventQuery(NativeEvent(event));
  if (state == cudaErrorNotReady) {
    cudaGetLastError();  // no failure: the next CheckLaunch must not find it
    return false;
  }
  Check(state, "cudaEventQuery");
  return true;
}

void WaitOnHost(EventHandle event) {
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
  const cudaError_t ended = cudaStreamEndCapture(Native(stream), &recorded);
  if (ended != cudaSuccess) cudaGetLastError();  // the next CheckLaunch must not find it
  Check(ended, "cudaStreamEndCapture");
  cudaGraphExec_t graph = nullptr;
  const cudaError_t made = cudaGraphInstantiate(&graph, recorded, 0);
  cudaGraphDestroy(recorded);
  if (made != cudaSuccess) cudaGetLastError();  // likewise
  Check(made, "cudaGraphInstantiate");
  return graph;
}

void DropCapture(StreamHandle stream) noexcept {
  cudaGraph_t recorded = nullptr;
  cudaStreamEndCapture(Native(stream), &recorded);
  if (recorded != nullptr) cudaGraphDestroy(recorded);
  cudaGetLastError();  // the cause of the failed recording: the next CheckLaunch must not find it
}

void LaunchGraph(GraphHandle graph, StreamHandle stream) {
  Check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), Native(stream)), "cudaGraphLaunch");
}

void DestroyGraph(GraphHandle graph) noexcept {
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
}

void CheckLaunch(std::string_view op) {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess)
    Throw<BrokenEnvironment>(op, "launch failed: {}", cudaGetErrorString(error));
}

}  // namespace torus::cuda
