// LinkCodec: the codec of one end of a TensorLink, and where it works: on the GPU on which the
// tensors lie, if it has kernels for GPUs, and else on the CPU.
#pragma once

#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/codec/gpu_codec.h"
#include "parallel/pipeline/tensor_header.h"

namespace torus::parallel {

class LinkCodec {
 public:
  // `codec`: null or the identity for none. `device`: where the tensors lie.
  LinkCodec(Codec* codec, Device device);

  // Whether tensors of that type are encoded.
  bool Encodes(DType dtype) const { return parallel::Encodes(codec_, dtype); }
  // Where encoded bytes are written and read.
  Device device() const { return gpu_ != nullptr ? device_ : Device{}; }
  // The most bytes of a tensor that is encoded.
  size_t MaxBytes(const TensorSpec& spec) const {
    return codec_->MaxEncodedBytes(Numel(spec.shape));
  }

  // Allocates what Encode needs beside, for tensors up to these.
  void PrepareToEncode(const std::vector<TensorSpec>& specs);
  // Encodes each tensor whose buffer is defined into that: u8, of MaxBytes on device(). Returns how
  // many bytes of the buffers are used; 0 where a value is not finite and the codec cannot carry
  // it. On a GPU the work goes into the current stream, for which this waits, once.
  std::vector<size_t> Encode(const std::vector<Tensor>& tensors, std::vector<Tensor>& buffers);
  // Restores `out` from such bytes, all of `encoded`, on any device; on a GPU in its current
  // stream.
  void Decode(const Tensor& encoded, Tensor& out) const;

 private:
  size_t EncodeOnCpu(const Tensor& tensor, Tensor& buffer) const;

  Codec* codec_;
  Device device_;
  const GpuCodec* gpu_;       // null: encodes on the CPU
  Tensor scratch_, written_;  // on the GPU; the latter i64, by spec
};

}  // namespace torus::parallel
