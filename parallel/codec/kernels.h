// What codecs ask of a GPU. On a CPU their spans are encoded without a door (codec.h).
#pragma once

#include "parallel/codec/cuda/sortq.h"
#include "runtime/door.h"

namespace torus::parallel::kernels {

// Of tensors that SortQuantizationOnGpu has checked.
inline void SortqEncode(const Tensor& in, SortqFormat format, Tensor& out, Tensor& written,
                        Tensor& scratch) {
  AtDoor(
      "sortq", in.device(), [] { TORUS_CHECK(false, "a CPU encodes spans"); },
      [&](StreamHandle stream) { cuda::SortqEncode(in, format, out, written, scratch, stream); });
}

inline void SortqDecode(const Tensor& in, SortqFormat format, Tensor& out) {
  AtDoor(
      "sortq", out.device(), [] { TORUS_CHECK(false, "a CPU decodes spans"); },
      [&](StreamHandle stream) { cuda::SortqDecode(in, format, out, stream); });
}

}  // namespace torus::parallel::kernels
