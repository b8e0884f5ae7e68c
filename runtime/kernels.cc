#include "runtime/kernels.h"

#include "runtime/broadcast.h"
#include "runtime/copy_bytes.h"
#include "runtime/cpu/kernels.h"
#include "runtime/cuda/kernels.h"
#include "runtime/gpu_dispatch.h"

namespace torus {
namespace {

// Copies element by element on the GPU that holds both tensors.
void CopyOnGpu(const Tensor& in, Tensor& out, StreamHandle stream) {
  if (in.dtype() == out.dtype() && in.is_contiguous() && out.is_contiguous())
    return cuda::CopyBytes(out.mutable_raw(), in.raw(), in.bytes(), stream);
  const BroadcastPlan plan =
      MergedPlan({.shape = in.shape(), .strides = {in.strides(), out.strides()}, .operands = 2});
  cuda::CopyStrided(in.raw(), in.dtype(), out.mutable_raw(), out.dtype(), plan, stream);
}

void FillOnGpu(Tensor& out, double value, StreamHandle stream) {
  if (out.is_contiguous())
    return cuda::Fill(out.mutable_raw(), out.dtype(), out.numel(), value, stream);
  CopyOnGpu(Full({}, value, out.dtype(), out.device()).Expand(out.shape()), out, stream);
}

// Makes new work in `then`'s current stream run after the work already in `first`'s.
void Follow(Device first, Device then) {
  cuda::UseDevice(first.index);
  const cuda::EventHandle reached = cuda::CreateEvent(first.index);
  cuda::Record(reached, CurrentStream(first));
  cuda::UseDevice(then.index);
  cuda::WaitOnStream(CurrentStream(then), reached);
  cuda::DestroyEvent(reached);
}

// Copies between contiguous tensors of one dtype on two devices. If one is the CPU, the call waits,
// because CPU memory may be read or freed as soon as it returns. Between two GPUs, the copy runs
// after the receiver's earlier work on the memory, and the receiver's stream waits for the copy.
void SendBytes(const Tensor& in, Tensor& out, StreamHandle stream) {
  const bool both = in.device().kind == DeviceKind::kCuda && out.device().kind == DeviceKind::kCuda;
  if (both) {
    cuda::ConnectMemories(in.device().index, out.device().index);
    Follow(out.device(), in.device());
  }
  cuda::CopyBytes(out.mutable_raw(), in.raw(), in.bytes(), stream);
  if (both)
    Follow(in.device(), out.device());
  else
    cuda::Synchronize(stream);
}

// Copies between two devices. Only contiguous memory crosses from one to the other: strided tensors
// are packed before and unpacked after. Casts run on a GPU.
void CopyAcross(const Tensor& in, Tensor& out, StreamHandle stream) {
  const bool from_gpu = in.device().kind == DeviceKind::kCuda;
  const Tensor sent = (from_gpu ? in.To(out.dtype()) : in).Contiguous();
  if (out.is_contiguous() && sent.dtype() == out.dtype()) return SendBytes(sent, out, stream);
  Tensor staged(sent.shape(), sent.dtype(), out.device());
  SendBytes(sent, staged, stream);
  Copy(staged, out);
}

void CopyWithGpu(const Tensor& in, Tensor& out, StreamHandle stream) {
  if (in.device() == out.device())
    CopyOnGpu(in, out, stream);
  else
    CopyAcross(in, out, stream);
}

// A copy runs on the GPU involved, if any; nothing is copied into meta.
Device CopyDevice(const Tensor& in, const Tensor& out) {
  if (out.device() == kMetaDevice) return kMetaDevice;
  Require(in.device() != kMetaDevice, "copy",
          "{} has a shape and no values that {} could take: if a model made it, call Initialize or "
          "load weights first; an op reads elements inside Dispatch (runtime/dispatch.h)",
          in, out);
  return in.device().kind == DeviceKind::kCuda ? in.device() : out.device();
}

Tensor AllBytes(const std::shared_ptr<Storage>& storage) {
  const auto count = static_cast<int64_t>(storage->bytes());
  return {storage, {count}, {1}, 0, DType::kU8};
}

// The borrower ensures that the memory lasts, so the owner is just some non-null pointer.
std::shared_ptr<Storage> Borrowed(void* memory, size_t bytes, Device device) {
  const std::shared_ptr<const void> owner(memory, [](const void*) {});
  return std::make_shared<Storage>(memory, bytes, device, owner);
}

// The bytes of the storage that the elements of a view lie in.
struct Extent {
  explicit Extent(const Tensor& tensor) {
    int64_t first = tensor.offset(), last = first;
    for (int i = 0; i < tensor.rank(); ++i)
      (tensor.strides()[i] < 0 ? first : last) += (tensor.dim(i) - 1) * tensor.strides()[i];
    const auto size = static_cast<int64_t>(SizeOf(tensor.dtype()));
    begin = first * size;
    end = (last + 1) * size;
  }
  int64_t begin, end;
};

bool IsSameView(const Tensor& a, const Tensor& b) {
  return a.offset() == b.offset() && a.strides() == b.strides() && a.dtype() == b.dtype();
}

// Whether writing to `out` may change what is yet to be read of `in`. Both have elements.
bool MayOverwrite(const Tensor& out, const Tensor& in) {
  if (in.storage() != out.storage() || IsSameView(in, out)) return false;
  const Extent from(in), to(out);
  return from.begin < to.end && to.begin < from.end;
}

bool HasAnElementTwice(const Tensor& tensor) {
  for (int i = 0; i < tensor.rank(); ++i)
    if (tensor.dim(i) > 1 && tensor.strides()[i] == 0) return true;
  return false;
}

bool AddsUp(DType dtype) { return dtype != DType::kU8 && dtype != DType::kBool; }

}  // namespace

void Fill(Tensor& out, double value) {
  if (out.numel() == 0) return;
  Dispatch(
      "fill", out.device(), [&] { cpu::Fill(out, value); },
      [&] { FillOnGpu(out, value, CurrentStream(out.device())); });
}

void Copy(const Tensor& in, Tensor& out) {
  Require(in.defined() && out.defined(), "copy", "needs defined tensors, got {} into {}", in, out);
  Require(in.shape() == out.shape(), "copy", "shapes differ: {} into {}", in.shape(), out.shape());
  if (in.numel() == 0) return;
  Require(!HasAnElementTwice(out), "copy",
          "cannot write into a view that has elements twice, got strides {} of shape {}",
          out.strides(), out.shape());
  if (MayOverwrite(out, in)) return Copy(in.Clone(), out);
  Dispatch(
      "copy", CopyDevice(in, out), [&] { cpu::Copy(in, out); },
      [&] { CopyWithGpu(in, out, CurrentStream(CopyDevice(in, out))); });
}

void MoveMemory(const Tensor& tensor, Device device) {
  if (tensor.device() == device) return;
  Require(tensor.device() != kMetaDevice && device != kMetaDevice, "move",
          "meta has no memory, asked for {} to {}", tensor, device);
  const std::shared_ptr<Storage>& storage = tensor.storage();
  const auto fresh = std::make_shared<Storage>(storage->bytes(), device);
  Tensor to = AllBytes(fresh);
  Copy(AllBytes(storage), to);
  storage->Swap(*fresh);
}

void CopyMemory(const void* from, Device from_device, void* to, Device to_device, size_t bytes) {
  if (bytes == 0) return;
  if (from_device.kind == DeviceKind::kCpu && to_device.kind == DeviceKind::kCpu)
    return CopyBytes(to, from, bytes);
  Tensor out = AllBytes(Borrowed(to, bytes, to_device));
  Copy(AllBytes(Borrowed(const_cast<void*>(from), bytes, from_device)), out);
  if (from_device.kind == DeviceKind::kCuda && to_device.kind == DeviceKind::kCuda)
    WaitForWork(to_device);
}

void AddInPlace(Tensor& out, const Tensor& in) {
  Require(in.defined() && out.defined() && in.shape() == out.shape() && in.dtype() == out.dtype(),
          "add_in_place", "{} does not add to {}", in, out);
  Require(in.is_contiguous() && out.is_contiguous(), "add_in_place", "needs contiguous tensors");
  Require(AddsUp(out.dtype()), "add_in_place", "does not add {}", Name(out.dtype()));
  if (out.numel() > 0 && MayOverwrite(out, in)) return AddInPlace(out, in.Clone());
  Dispatch(
      "add_in_place", CommonDevice("add_in_place", out, in), [&] { cpu::AddInPlace(out, in); },
      [&] {
        cuda::AddInPlace(out.mutable_raw(), in.raw(), out.dtype(), out.numel(),
                         CurrentStream(out.device()));
      });
}

void ScaleInPlace(Tensor& out, double factor) {
  Require(out.is_contiguous(), "scale_in_place", "needs a contiguous tensor");
  Dispatch(
      "scale_in_place", out.device(), [&] { cpu::ScaleInPlace(out, factor); },
      [&] {
        cuda::ScaleInPlace(out.mutable_raw(), out.dtype(), out.numel(), factor,
                           CurrentStream(out.device()));
      });
}

void FillArange(Tensor& out) {
  Require(out.is_contiguous(), "count", "needs a contiguous tensor");
  Dispatch(
      "count", out.device(), [&] { cpu::FillArange(out); },
      [&] {
        cuda::FillArange(out.mutable_raw(), out.dtype(), out.numel(), CurrentStream(out.device()));
      });
}

}  // namespace torus
