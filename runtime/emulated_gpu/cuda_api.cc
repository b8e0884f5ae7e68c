// Implements runtime/cuda_api.h with emulated GPUs.
#include "runtime/cuda_api.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <random>

#include "runtime/copy_bytes.h"
#include "runtime/emulated_gpu/memory.h"
#include "runtime/emulated_gpu/queues.h"
#include "runtime/error.h"
#include "runtime/thread_gpu.h"

namespace torus::cuda {

namespace gpu = emulated_gpu;

int DeviceCount() { return gpu::kDevices; }

// Each process has its own emulated GPUs, so their ids are random.
std::array<unsigned char, 16> IdOf(int device) {
  static const std::array<std::random_device::result_type, 3> drawn = [] {
    std::random_device random;
    return std::array{random(), random(), random()};
  }();
  std::array<unsigned char, 16> id{};
  std::memcpy(id.data(), drawn.data(), sizeof drawn);
  id.back() = static_cast<unsigned char>(device);
  return id;
}

void UseDevice(int device) {
  gpu::SetCurrentDevice(device);
  ThreadGpu::Note(device);
}

void* Malloc(int device, size_t bytes) {
  UseDevice(device);
  return gpu::TakeMemory(device, bytes);
}

namespace {

// Runs all work of the device. An exception in it is kept, and thrown at the next wait for the
// device's default stream. Leaves the thread's GPU selected.
void FinishAll(int device) {
  const int before = gpu::CurrentDevice();
  gpu::SetCurrentDevice(device);
  try {
    gpu::WaitForDevice(device);
  } catch (...) {
    gpu::Enqueue(nullptr, "free",
                 [error = std::current_exception()] { std::rethrow_exception(error); });
  }
  gpu::SetCurrentDevice(before);
}

}  // namespace

// Like cudaFree, waits for the device: work that still uses the block runs first.
void Free(int device, void* block) noexcept {
  FinishAll(device);
  gpu::GiveMemory(device, block);
}

bool CanPin() { return ThreadGpu::ForPinning() >= 0; }

// Ordinary memory. Emulated copies read it when they run, as CUDA's copies do with pinned memory.
void* MallocHost(size_t bytes) {
  if (!CanPin())
    Throw<BrokenEnvironment>("cuda", "memory is pinned once a GPU has been selected, none has");
  gpu::SetCurrentDevice(ThreadGpu::ForPinning());
  constexpr size_t kPage = 4096;
  return std::aligned_alloc(kPage, (bytes / kPage + 1) * kPage);
}

// Like cudaFreeHost, waits for all GPUs: copies that still use the block run first.
void FreeHost(void* block) noexcept {
  for (int device = 0; device < gpu::kDevices; ++device) FinishAll(device);
  std::free(block);
}

void CopyBytes(void* to, const void* from, size_t bytes, StreamHandle stream) {
  gpu::CheckSpan("copy", to, bytes);
  gpu::CheckSpan("copy", from, bytes);
  gpu::Enqueue(stream, "copy", [=] {
    gpu::Observer* const observer = gpu::Observed::Current();
    observer != nullptr ? observer->OnCopy(to, from, bytes, stream)
                        : torus::CopyBytes(to, from, bytes);
  });
}

void ConnectMemories(int, int) {}

StreamHandle CreateStream(int device) {
  UseDevice(device);
  return gpu::MakeStream();
}

void DestroyStream(StreamHandle stream) noexcept { gpu::DropStream(stream); }

void Synchronize(StreamHandle stream) { gpu::WaitForStream(stream); }

EventHandle CreateEvent(int device) {
  UseDevice(device);
  return gpu::MakeEvent();
}

void DestroyEvent(EventHandle event) noexcept { gpu::DropEvent(event); }

void Record(EventHandle event, StreamHandle stream) { gpu::RecordEvent(event, stream); }

bool IsDone(EventHandle event) { return gpu::EventIsDone(event); }

void WaitOnHost(EventHandle event) { gpu::WaitForEvent(event); }

void WaitOnStream(StreamHandle stream, EventHandle event) {
  gpu::StreamWaitsForEvent(stream, event);
}

namespace {

using Recorded = std::shared_ptr<const gpu::Recording>;

}  // namespace

void BeginCapture(StreamHandle stream) { gpu::BeginRecording(stream); }

GraphHandle EndCapture(StreamHandle stream) { return new Recorded(gpu::EndRecording(stream)); }

void DropCapture(StreamHandle stream) noexcept { gpu::DropRecording(stream); }

void LaunchGraph(GraphHandle graph, StreamHandle stream) {
  gpu::Replay(*static_cast<Recorded*>(graph), stream);
}

void DestroyGraph(GraphHandle graph) noexcept { delete static_cast<Recorded*>(graph); }

// Launch (runtime/emulated_gpu/kernel.h) throws for an invalid launch. An error while the kernel
// runs is thrown where the work is waited for.
void CheckLaunch(std::string_view) {}

}  // namespace torus::cuda
