#include "runtime/kernels.h"

#include "runtime/cpu/kernels.h"
#include "runtime/cuda/kernels.h"
#include "runtime/door.h"

namespace torus {
namespace {

void FillOnGpu(Tensor& out, double value, StreamHandle stream) {
  Require(out.is_contiguous(), "fill", "needs contiguous memory on a GPU, got {}", out);
  cuda::Fill(out.mutable_raw(), out.dtype(), out.numel(), value, stream);
}

// Same dtype, any two devices. Memory of the CPU may be read or freed as soon as the call returns,
// so it waits.
void CopyBytesWithGpu(const Tensor& in, Tensor& out, StreamHandle stream) {
  const bool with_cpu =
      in.device().kind == DeviceKind::kCpu || out.device().kind == DeviceKind::kCpu;
  cuda::CopyBytes(out.mutable_raw(), in.raw(), in.bytes(), stream);
  if (with_cpu) cuda::Synchronize(stream);
}

void CopyWithGpu(const Tensor& in, Tensor& out, StreamHandle stream) {
  Require(in.is_contiguous() && out.is_contiguous(), "copy",
          "needs contiguous memory on a GPU, got {} into {}", in, out);
  if (in.dtype() == out.dtype()) return CopyBytesWithGpu(in, out, stream);
  if (in.device() == out.device())
    return cuda::Cast(in.raw(), in.dtype(), out.mutable_raw(), out.dtype(), in.numel(), stream);
  // Two devices and two dtypes: cast on the GPU that receives, else on the one that sends.
  Tensor staged = out.device().kind == DeviceKind::kCuda
                      ? Tensor(in.shape(), in.dtype(), out.device())
                      : Tensor(in.shape(), out.dtype(), in.device());
  CopyWithGpu(in, staged, stream);
  CopyWithGpu(staged, out, stream);
}

// A copy runs on the GPU that takes part; into meta nothing is copied.
Device CopyDevice(const Tensor& in, const Tensor& out) {
  if (out.device() == kMetaDevice) return kMetaDevice;
  Require(in.device() != kMetaDevice, "copy",
          "a tensor on meta has no values, so code that reads them belongs inside AtDoor "
          "(runtime/door.h), got {} into {}",
          in, out);
  return in.device().kind == DeviceKind::kCuda ? in.device() : out.device();
}

bool AddsUp(DType dtype) { return dtype != DType::kU8 && dtype != DType::kBool; }

}  // namespace

void Fill(Tensor& out, double value) {
  if (out.numel() == 0) return;
  AtDoor(
      "fill", out.device(), [&] { cpu::Fill(out, value); },
      [&](StreamHandle stream) { FillOnGpu(out, value, stream); });
}

void Copy(const Tensor& in, Tensor& out) {
  Require(in.defined() && out.defined(), "copy", "needs defined tensors, got {} into {}", in, out);
  Require(in.shape() == out.shape(), "copy", "shapes differ: {} into {}", in.shape(), out.shape());
  if (in.numel() == 0) return;
  AtDoor(
      "copy", CopyDevice(in, out), [&] { cpu::Copy(in, out); },
      [&](StreamHandle stream) { CopyWithGpu(in, out, stream); });
}

void AddInPlace(Tensor& out, const Tensor& in) {
  Require(in.defined() && out.defined() && in.shape() == out.shape() && in.dtype() == out.dtype(),
          "add_in_place", "{} does not add to {}", in, out);
  Require(in.is_contiguous() && out.is_contiguous(), "add_in_place", "needs contiguous tensors");
  Require(AddsUp(out.dtype()), "add_in_place", "does not add {}", Name(out.dtype()));
  AtDoor("add_in_place", CommonDevice("add_in_place", out, in), [&] { cpu::AddInPlace(out, in); });
}

void ScaleInPlace(Tensor& out, double factor) {
  Require(out.is_contiguous(), "scale_in_place", "needs a contiguous tensor");
  AtDoor("scale_in_place", out.device(), [&] { cpu::ScaleInPlace(out, factor); });
}

void Count(Tensor& out) {
  Require(out.is_contiguous(), "count", "needs a contiguous tensor");
  AtDoor("count", out.device(), [&] { cpu::Count(out); });
}

}  // namespace torus
