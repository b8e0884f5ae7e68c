// LinkCodec: the session of a codec at one end of a TensorLink: what it remembers of each tensor,
// which random numbers it draws, and where it works: on the GPU on which the tensors lie, if it has
// kernels for GPUs, and else on the CPU.
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
  // `codec`: null or the identity for none. `device`: where the tensors lie. `link`: the same at
  // both ends, and another for each link and direction.
  LinkCodec(Codec* codec, Device device, uint64_t link);

  // Whether tensors of that type are encoded.
  bool Encodes(DType dtype) const { return parallel::Encodes(codec_, dtype); }
  // Where encoded bytes are written and read.
  Device device() const { return gpu_ != nullptr ? device_ : Device{}; }
  // The most bytes of a tensor that is encoded.
  size_t MaxBytes(const TensorSpec& spec) const { return codec_->MaxTensorBytes(spec.shape); }

  // Before the first tensor: what is remembered of samples goes to files of names that begin with
  // `path`, not into memory.
  void KeepSamplesAt(std::string path) { samples_at_ = std::move(path); }

  // Allocates what Encode needs beside, for tensors up to these. `checksums`: whether it is to find
  // those of what it writes on a GPU.
  void PrepareToEncode(const std::vector<TensorSpec>& specs, bool checksums);
  // Encodes each tensor whose buffer is defined into that: u8, of MaxBytes on device(). Returns how
  // many bytes of the buffers are used; 0 where a value is not finite and the codec cannot carry
  // it. On a GPU the work goes into the current stream, for which this waits, once.
  // `when`: step, micro-batch and what else is known of all tensors; their shapes are their own.
  std::vector<size_t> Encode(const CodecContext& when, const std::vector<Tensor>& tensors,
                             std::vector<Tensor>& buffers);
  // CRC-32C of what the last Encode wrote of tensor i on a GPU; after PrepareToEncode for these.
  uint32_t checksum(size_t i) const { return checksums_[i]; }
  // Compares that of `encoded`, on a GPU, in its current stream, without waiting for it.
  void Compare(const Tensor& encoded, uint32_t expected);
  // Whether all compared so far were equal; waits for the GPU where there were any since the last
  // call.
  bool AllEqual();

  // Restores `out`, tensor `i` of the link, from such bytes, all of `encoded`, on any device; on a
  // GPU in its current stream.
  void Decode(const CodecContext& when, size_t i, const Tensor& encoded, Tensor& out);

  // Behind a step of training: what was remembered in one that was not taken is forgotten.
  void Settle(bool taken);

  // What is remembered of each tensor, by its number; empty where the codec remembers nothing.
  const std::map<size_t, CodecMemory>& memories() const { return memories_; }
  // Replaces all of it. Files are gone on with as the memories say (sample_store.h).
  void SetMemories(std::map<size_t, CodecMemory> memories);
  // Waits until what is in files is on the disk.
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
  std::vector<uint32_t> checksums_;  // empty: not found
  bool compared_ = false;
};

}  // namespace torus::parallel
