#include "parallel/pipeline/link_codec.h"

#include <algorithm>
#include <utility>

#include "parallel/codec/kernels.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

std::span<const float> Floats(const Tensor& tensor) {
  return {tensor.data<float>(), static_cast<size_t>(tensor.numel())};
}

const GpuCodec* KernelsOf(const Codec* codec, Device device) {
  const bool on_gpu = codec != nullptr && device.kind == DeviceKind::kCuda;
  return on_gpu ? codec->on_gpu() : nullptr;
}

}  // namespace

LinkCodec::LinkCodec(Codec* codec, Device device, uint64_t link)
    : codec_(codec), device_(device), link_(link), gpu_(KernelsOf(codec, device)) {}

CodecContext LinkCodec::ContextOf(const CodecContext& when, size_t i, const Shape& shape) {
  constexpr uint64_t kMostTensors = 1 << 16;
  CodecContext context = when;
  context.shape = shape;
  context.stream = link_ * kMostTensors + i;
  if (codec_->is_stateful()) context.memory = &memories_[i];
  if (codec_->is_stateful() && !samples_at_.empty())
    context.store = &stores_.try_emplace(i, fmt::format("{} {}", samples_at_, i)).first->second;
  return context;
}

void LinkCodec::PrepareToEncode(const std::vector<TensorSpec>& specs, bool checksums) {
  if (gpu_ == nullptr) return;
  size_t scratch = 0;
  for (const TensorSpec& spec : specs)
    if (Encodes(spec.dtype)) scratch = std::max(scratch, gpu_->ScratchBytes(Numel(spec.shape)));
  scratch_ = Empty({static_cast<int64_t>(scratch)}, DType::kU8, device_);
  written_ = Zeros({2 * static_cast<int64_t>(specs.size())}, DType::kI64, device_);
  if (!checksums) return;
  checksums_.resize(specs.size());
  checksum_scratch_ = Empty({kChecksumScratch}, DType::kI32, device_);
}

// Copies to the CPU before the cast: on the encoder thread no GPU memory may be allocated, since
// that belongs to the stream of the rank's thread.
size_t LinkCodec::EncodeOnCpu(const CodecContext& context, const Tensor& tensor,
                              Tensor& buffer) const {
  const Tensor here = tensor.To(Device{}).To(DType::kF32);
  const std::span<std::byte> out(reinterpret_cast<std::byte*>(buffer.mutable_data<uint8_t>()),
                                 buffer.bytes());
  return EncodeWithin(*codec_, context, Floats(here), out);
}

std::vector<size_t> LinkCodec::Encode(const CodecContext& when, const std::vector<Tensor>& tensors,
                                      std::vector<Tensor>& buffers) {
  std::vector<size_t> bytes(tensors.size(), 0);
  bool waits = false;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!buffers[i].defined()) continue;
    if (gpu_ == nullptr) {
      const CodecContext context = ContextOf(when, i, tensors[i].shape());
      bytes[i] = EncodeOnCpu(context, tensors[i], buffers[i]);
      continue;
    }
    Tensor written = written_.Narrow(0, static_cast<int64_t>(i), 1);
    gpu_->Encode(tensors[i], buffers[i], written, scratch_);
    if (!checksums_.empty()) FindChecksum(i, tensors.size(), buffers[i], written);
    waits = true;
  }
  if (!waits) return bytes;
  const std::vector<int64_t> written = ToVector<int64_t>(written_.To(Device{}));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!buffers[i].defined()) continue;
    bytes[i] = static_cast<size_t>(written[i]);
    if (!checksums_.empty()) checksums_[i] = static_cast<uint32_t>(written[tensors.size() + i]);
  }
  return bytes;
}

void LinkCodec::FindChecksum(size_t i, size_t tensors, const Tensor& encoded,
                             const Tensor& written) {
  Tensor checksum = written_.Narrow(0, static_cast<int64_t>(tensors + i), 1);
  kernels::Checksum(encoded, written, checksum, checksum_scratch_);
}

void LinkCodec::Compare(const Tensor& encoded, uint32_t expected) {
  if (!damaged_.defined()) {
    damaged_ = Zeros({1}, DType::kI32, encoded.device());
    checksum_scratch_ = Empty({kChecksumScratch}, DType::kI32, encoded.device());
  }
  kernels::CompareChecksum(encoded, expected, damaged_, checksum_scratch_);
  compared_ = true;
}

bool LinkCodec::AllEqual() {
  return !std::exchange(compared_, false) || damaged_.To(Device{}).Item() == 0;
}

void LinkCodec::SetMemories(std::map<size_t, CodecMemory> memories) {
  stores_.clear();
  memories_ = std::move(memories);
}

void LinkCodec::SyncFiles() {
  for (auto& [tensor, store] : stores_) store.Sync();
}

void LinkCodec::Settle(bool taken) {
  for (auto& [tensor, memory] : memories_) memory.Settle(taken);
}

void LinkCodec::Decode(const CodecContext& when, size_t i, const Tensor& encoded, Tensor& out) {
  if (gpu_ != nullptr) return gpu_->Decode(encoded.To(device_), out);
  Tensor decoded =
      out.device() == Device{} && out.dtype() == DType::kF32 ? out : Empty(out.shape());
  codec_->DecodeTensor(ContextOf(when, i, out.shape()),
                       {static_cast<const std::byte*>(encoded.raw()), encoded.bytes()},
                       {decoded.mutable_data<float>(), static_cast<size_t>(decoded.numel())});
  if (decoded.storage() != out.storage()) Copy(decoded, out);
}

}  // namespace torus::parallel
