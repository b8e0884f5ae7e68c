// LinkCodec: a codec at one end of a TensorLink, with its state for each tensor and its random
// numbers. It works on the tensors' GPU if the codec has kernels for GPUs, else on the CPU.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/codec/gpu_codec.h"
#include "parallel/codec/sample_store.h"
#include "parallel/pipeline/tensor_header.h"

namespace torus::parallel {

class LinkCodec {
 public:
  // `codec`: null or the identity: none. `device`: where the tensors are. `link`: a number that is
  // the same at both ends and unique for each link and direction.
  LinkCodec(Codec* codec, Device device, uint64_t link);

  // Whether tensors of that type are encoded.
  bool Encodes(DType dtype) const { return parallel::Encodes(codec_, dtype); }
  // Where encoded bytes are written and read.
  Device device() const { return gpu_ != nullptr ? device_ : Device{}; }
  // The most bytes of a tensor that is encoded.
  size_t MaxBytes(const TensorSpec& spec) const { return codec_->MaxTensorBytes(spec.shape); }

  // Keeps the state of samples in files whose names begin with `path` instead of in memory. Call
  // before the first tensor.
  void KeepSamplesAt(std::string path) { samples_at_ = std::move(path); }

  // Allocates the workspace of Encode for tensors up to these sizes. `checksums`: whether Encode
  // also computes checksums of what it writes on a GPU.
  void PrepareToEncode(const std::vector<TensorSpec>& specs, bool checksums);
  // Encodes each tensor whose buffer is defined into that buffer: u8, of MaxBytes bytes, on
  // device(). Returns the bytes used in each buffer; 0 if a value is not finite and the codec
  // cannot encode that. On a GPU it works in the current stream and waits for it once. `when`:
  // step, micro-batch and all else that the tensors have in common; their shapes are taken from the
  // tensors.
  std::vector<size_t> Encode(const CodecContext& when, const std::vector<Tensor>& tensors,
                             std::vector<Tensor>& buffers);
  // CRC-32C of what the last Encode wrote for tensor i on a GPU. Requires PrepareToEncode with
  // `checksums`.
  uint32_t checksum(size_t i) const { return checksums_[i]; }
  // Compares the CRC-32C of `encoded`, on a GPU, with `expected`, in the current stream and without
  // waiting for it.
  void Compare(const Tensor& encoded, uint32_t expected);
  // Whether all checksums compared so far were equal. Waits for the GPU if there was a Compare
  // since the last call.
  bool AllEqual();

  // Decodes all bytes of `encoded`, which may be on any device, into `out`, tensor `i` of the link;
  // on a GPU in its current stream.
  void Decode(const CodecContext& when, size_t i, const Tensor& encoded, Tensor& out);

  // Call after a training step: if it was not taken, drops the changes that it made to the state.
  void Settle(bool taken);

  // The codec's state for each tensor, by number; empty if the codec has none.
  const std::map<size_t, CodecMemory>& memories() const { return memories_; }
  // Replaces all of this state. Files are continued as the memories say (sample_store.h).
  void SetMemories(std::map<size_t, CodecMemory> memories);
  // Waits until files are synced to disk.
  void SyncFiles();

 private:
  size_t EncodeOnCpu(const CodecContext& context, const Tensor& tensor, Tensor& buffer) const;
  void FindChecksum(size_t i, size_t tensors, const Tensor& encoded, const Tensor& written);
  CodecContext ContextOf(const CodecContext& when, size_t i, const Shape& shape);

  Codec* codec_;
  Device device_;
  uint64_t link_;
  std::map<size_t, CodecMemory> memories_;
  std::string samples_at_;
  std::map<size_t, SampleStore> stores_;  // opened by the codecs that use them
  const GpuCodec* gpu_;                   // null: encodes on the CPU
  // On the GPU. i64, by spec: the bytes written, and behind them their checksums.
  Tensor scratch_, written_;
  Tensor checksum_scratch_, damaged_;
  std::vector<uint32_t> checksums_;  // empty: not computed
  bool compared_ = false;
};

}  // namespace torus::parallel
