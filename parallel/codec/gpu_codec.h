// GpuCodec: a codec for values that lie in the memory of a GPU, written and read there.
#pragma once

#include "runtime/tensor.h"

namespace torus::parallel {

// What a Codec gives for GPUs (Codec::on_gpu): kernels that write the bytes of its Encode and
// restore the bits of its Decode. All tensors of a call are contiguous and lie on one GPU; the work
// goes into that GPU's current stream, in which the tensors must stay allocated until it is done.
// Nothing waits for it, and nothing is allocated. Several threads may use one object.
class GpuCodec {
 public:
  virtual ~GpuCodec() = default;

  // Bytes that Encode of up to `count` values needs beside.
  virtual size_t ScratchBytes(int64_t count) const = 0;

  // Encodes `in`, f32 or of 16 bits (as the f32 of its values), to the front of `out`, u8, of at
  // least Codec::MaxEncodedBytes(in.numel()), aligned to 8 bytes. `written`, one i64, becomes the
  // number of bytes written, or 0 where a value is infinite or NaN and the codec cannot carry that;
  // then what `out` holds means nothing. `scratch`, u8, aligned to 8 bytes:
  // ScratchBytes(in.numel()). BadInput where a tensor is not as asked.
  virtual void Encode(const Tensor& in, Tensor& out, Tensor& written, Tensor& scratch) const = 0;

  // Restores `out`, f32 or of 16 bits (rounded to nearest even), from `in`, u8, aligned to 8 bytes:
  // as many bytes as Encode of that many values has written. BadInput where the sizes do not fit
  // each other. What only the GPU sees, that no encoder writes such bytes for that many values,
  // makes values NaN: at least one.
  virtual void Decode(const Tensor& in, Tensor& out) const = 0;
};

}  // namespace torus::parallel
