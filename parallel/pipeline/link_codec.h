// LinkCodec: the session of a codec at one end of a TensorLink: what it remembers of each tensor,
// which random numbers it draws, and where it works: on the GPU on which the tensors lie, if it has
// kernels for GPUs, and else on the CPU.
#pragma once

#include <map>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/codec/gpu_codec.h"
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

  // Allocates what Encode needs beside, for tensors up to these.
  void PrepareToEncode(const std::vector<TensorSpec>& specs);
  // Encodes each tensor whose buffer is defined into that: u8, of MaxBytes on device(). Returns how
  // many bytes of the buffers are used; 0 where a value is not finite and the codec cannot carry
  // it. On a GPU the work goes into the current stream, for which this waits, once.
  // `when`: step, micro-batch and what else is known of all tensors; their shapes are their own.
  std::vector<size_t> Encode(const CodecContext& when, const std::vector<Tensor>& tensors,
                             std::vector<Tensor>& buffers);
  // Restores `out`, tensor `i` of the link, from such bytes, all of `encoded`, on any device; on a
  // GPU in its current stream.
  void Decode(const CodecContext& when, size_t i, const Tensor& encoded, Tensor& out);

  // What is remembered of each tensor, by its number; empty where the codec remembers nothing.
  std::map<size_t, CodecMemory>& memories() { return memories_; }
  const std::map<size_t, CodecMemory>& memories() const { return memories_; }

 private:
  size_t EncodeOnCpu(const CodecContext& context, const Tensor& tensor, Tensor& buffer) const;
  CodecContext ContextOf(const CodecContext& when, size_t i, const Shape& shape);

  Codec* codec_;
  Device device_;
  uint64_t link_;
  std::map<size_t, CodecMemory> memories_;
  const GpuCodec* gpu_;       // null: encodes on the CPU
  Tensor scratch_, written_;  // on the GPU; the latter i64, by spec
};

}  // namespace torus::parallel
