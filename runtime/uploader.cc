#include "runtime/uploader.h"

#include "runtime/cuda_api.h"
#include "runtime/error.h"
#include "runtime/on_device.h"

namespace torus {
namespace {

Device CheckedGpu(Device gpu) {
  Require(gpu.kind == DeviceKind::kCuda, "upload", "needs a GPU, got {}", gpu);
  return gpu;
}

void PutCopy(const Tensor& from, Tensor& to, const Stream& stream) {
  OnDevice(
      to.device(), [] {},
      [&] {
        cuda::UseDevice(to.device().index);
        cuda::CopyBytes(to.mutable_raw(), from.raw(), from.bytes(), stream.handle());
      });
}

// Makes new work in the GPU's current stream run after `event`.
void Precede(const Event& event) {
  OnDevice(
      event.device(), [] {},
      [&] {
        cuda::UseDevice(event.device().index);
        cuda::WaitOnStream(CurrentStream(event.device()), event.handle());
      });
}

}  // namespace

Uploader::Uploader(Device gpu)
    : gpu_(CheckedGpu(gpu)), stream_(gpu), batches_{Batch(gpu), Batch(gpu)} {}

// Failures of the GPU are reported to whoever waits for the batch itself.
Uploader::~Uploader() {
  try {
    stream_.Synchronize();
  } catch (const std::exception&) {
  }
}

void Uploader::Begin() {
  begun_ = 1 - begun_;
  Batch& batch = batches_[begun_];
  batch.copied.Wait();  // done long ago, unless the batch was never awaited
  batch.sources.clear();
  batch.taken = 0;
  stream_.Wait(batch.used);
}

// A new block may still be used by work that was queued in the current stream before the block was
// freed.
Tensor Uploader::BlockOf(Batch& batch, size_t bytes) {
  if (batch.taken == batch.blocks.size()) batch.blocks.emplace_back();
  Tensor& block = batch.blocks[batch.taken++];
  const bool fits = block.defined() && block.bytes() >= bytes;
  if (fits && block.storage().use_count() == 1) return block;
  block = Tensor({static_cast<int64_t>(bytes)}, DType::kU8, gpu_);
  Event reached(gpu_);
  reached.Record(CurrentStream(gpu_));
  stream_.Wait(reached);
  return block;
}

Tensor Uploader::Copy(const Tensor& from) {
  Require(from.defined() && from.device() == Device{}, "upload", "needs a CPU's tensor, got {}",
          from);
  const Tensor source = from.Contiguous();
  if (source.bytes() == 0) return Tensor(source.shape(), source.dtype(), gpu_);
  Batch& batch = batches_[begun_];
  Tensor block = BlockOf(batch, source.bytes());
  PutCopy(source, block, stream_);
  batch.copied.Record(stream_);
  batch.sources.push_back(source);
  return {block.storage(), source.shape(), ContiguousStrides(source.shape()), 0, source.dtype()};
}

void Uploader::Await() {
  awaited_ = begun_;
  Precede(batches_[awaited_].copied);
}

void Uploader::Release() { batches_[awaited_].used.Record(CurrentStream(gpu_)); }

}  // namespace torus
