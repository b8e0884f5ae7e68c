#include "runtime/stream.h"

#include "runtime/cuda_api.h"
#include "runtime/error.h"
#include "runtime/on_device.h"

namespace torus {
namespace {

thread_local const WithStream* innermost = nullptr;  // of the calling thread

void RequireThere(const char* what, Device device) {
  Require(device.kind != DeviceKind::kCuda || (device.index >= 0 && device.index < GpuCount()),
          what, "there is no {}: {} GPUs can be used", device, GpuCount());
}

}  // namespace

int GpuCount() {
  return OnDevice(
      {kHasCuda ? DeviceKind::kCuda : DeviceKind::kCpu}, [] { return 0; },
      [] { return cuda::DeviceCount(); });
}

GpuId IdOf(Device gpu) {
  Require(gpu.kind == DeviceKind::kCuda, "gpu", "{} is none", gpu);
  RequireThere("gpu", gpu);
  return OnDevice(
      gpu, [] { return GpuId{}; }, [&] { return cuda::IdOf(gpu.index); });
}

std::string WhyNoGpu() {
  return kHasCuda ? "this machine has no GPU that can be used"
                  : "this build has no GPUs; ./bazelw with --config=cuda builds programs that have";
}

StreamHandle CurrentStream(Device device) {
  for (const WithStream* with = innermost; with != nullptr; with = with->before_)
    if (with->stream_.device() == device) return with->stream_.handle();
  return nullptr;
}

void WaitForWork(Device device) {
  Event done(device);
  done.Record(CurrentStream(device));
  done.Wait();
}

WithStream::WithStream(const Stream& stream) : stream_(stream), before_(innermost) {
  innermost = this;
}

WithStream::~WithStream() { innermost = before_; }

Stream::Stream(Device device) : device_(device) {
  RequireThere("stream", device);
  handle_ = OnDevice(
      device, [] { return static_cast<void*>(nullptr); },
      [&] { return cuda::CreateStream(device.index); });
}

Stream::~Stream() {
  OnDevice(
      device_, [] {}, [&] { cuda::DestroyStream(handle_); });
}

void Stream::Synchronize() {
  OnDevice(
      device_, [] {}, [&] { cuda::Synchronize(handle_); });
}

void Stream::Wait(const Event& event) {
  // A CPU event is always done, so a GPU's stream need not wait for it. In the opposite case the
  // host waits.
  if (event.device().kind != DeviceKind::kCuda) return;
  OnDevice(
      device_, [&] { event.Wait(); }, [&] { cuda::WaitOnStream(handle_, event.handle()); });
}

Event::Event(Device device) : device_(device) {
  RequireThere("event", device);
  handle_ = OnDevice(
      device, [] { return static_cast<void*>(nullptr); },
      [&] { return cuda::CreateEvent(device.index); });
}

Event::~Event() {
  OnDevice(
      device_, [] {}, [&] { cuda::DestroyEvent(handle_); });
}

void Event::Record(Stream& stream) {
  Require(stream.device() == device_, "event", "of {} cannot be recorded in a stream of {}",
          device_, stream.device());
  Record(stream.handle());
}

// The default stream belongs to the thread's current GPU.
void Event::Record(StreamHandle stream) {
  OnDevice(
      device_, [] {},
      [&] {
        cuda::UseDevice(device_.index);
        cuda::Record(handle_, stream);
      });
}

bool Event::IsDone() const {
  return OnDevice(
      device_, [] { return true; }, [&] { return cuda::IsDone(handle_); });
}

void Event::Wait() const {
  OnDevice(
      device_, [] {}, [&] { cuda::WaitOnHost(handle_); });
}

}  // namespace torus
