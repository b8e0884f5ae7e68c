// runtime/cuda_api.h over the emulated GPUs.
#include "runtime/cuda_api.h"

#include <exception>

#include "runtime/copy_bytes.h"
#include "runtime/emulated_gpu/memory.h"
#include "runtime/emulated_gpu/queues.h"

namespace torus::cuda {

namespace gpu = emulated_gpu;

int DeviceCount() { return gpu::kDevices; }

void UseDevice(int device) { gpu::SetCurrentDevice(device); }

void* Malloc(int device, size_t bytes) {
  UseDevice(device);
  return gpu::TakeMemory(device, bytes);
}

// As cudaFree waits for the device: work that still uses the block comes first. What it throws
// comes out where the device's default stream is waited for next.
void Free(int device, void* block) noexcept {
  UseDevice(device);
  try {
    gpu::WaitForDevice(device);
  } catch (...) {
    gpu::Enqueue(nullptr, "free",
                 [error = std::current_exception()] { std::rethrow_exception(error); });
  }
  gpu::GiveMemory(device, block);
}

void CopyBytes(void* to, const void* from, size_t bytes, StreamHandle stream) {
  gpu::CheckSpan("copy", to, bytes);
  gpu::CheckSpan("copy", from, bytes);
  gpu::Enqueue(stream, "copy", [=] { torus::CopyBytes(to, from, bytes); });
}

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

// What is wrong with a launch is thrown by Launch (runtime/emulated_gpu/kernel.h), what goes wrong
// while it runs where it is waited for.
void CheckLaunch(std::string_view) {}

}  // namespace torus::cuda
