// GpuCodec: a codec for values in GPU memory, encoded and decoded on the GPU.
#pragma once

#include "runtime/tensor.h"

namespace torus::parallel {

// The GPU side of a Codec (Codec::on_gpu): kernels that write the same bytes as its Encode and
// restore the same bits as its Decode. All tensors of a call are contiguous and on the same GPU.
// The work goes into that GPU's current stream; the tensors must stay allocated until it is done.
// No call waits or allocates memory. Several threads may use one object.
class GpuCodec {
 public:
  virtual ~GpuCodec() = default;

  // Bytes of scratch memory that Encode needs for up to `count` values.
  virtual size_t ScratchBytes(int64_t count) const = 0;

  // Encodes `in`, f32 or 16-bit (converted to f32), to the front of `out`, u8, of at least
  // Codec::MaxEncodedBytes(in.numel()) bytes, aligned to 8 bytes. Sets `written`, one i64, to the
  // number of bytes written, or to 0 if a value is infinite or NaN and the codec cannot represent
  // that; then the contents of `out` are undefined. `scratch`, u8, aligned to 8 bytes, has
  // ScratchBytes(in.numel()) bytes. Throws BadInput if a tensor does not meet these requirements.
  virtual void Encode(const Tensor& in, Tensor& out, Tensor& written, Tensor& scratch) const = 0;

  // Decodes `in`, u8, aligned to 8 bytes, to `out`, f32 or 16-bit (rounded to nearest even). `in`
  // has as many bytes as Encode wrote for that many values. Throws BadInput if the sizes do not
  // match. Bytes that no encoder writes can be detected only on the GPU: they turn at least one
  // value into NaN.
  virtual void Decode(const Tensor& in, Tensor& out) const = 0;
};

}  // namespace torus::parallel
