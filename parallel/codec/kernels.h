// What codecs ask of a GPU. On a CPU their spans are encoded without a door (codec.h).
#pragma once

#include "parallel/codec/cuda/checksum.h"
#include "parallel/codec/cuda/plain.h"
#include "parallel/codec/cuda/sortq.h"
#include "runtime/gpu_door.h"

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

// Of tensors that PlainCodecOnGpu has checked.
inline void PlainEncode(const Tensor& in, const PlainFormat& format, const cuda::Numbers8& numbers,
                        Tensor& out, Tensor& written, Tensor& scratch) {
  AtDoor(
      "codec", in.device(), [] { TORUS_CHECK(false, "a CPU encodes spans"); },
      [&](StreamHandle stream) {
        cuda::PlainEncode(in, format, numbers, out, written, scratch, stream);
      });
}

inline void PlainDecode(const Tensor& in, const PlainFormat& format, const cuda::Numbers8& numbers,
                        Tensor& out) {
  AtDoor(
      "codec", out.device(), [] { TORUS_CHECK(false, "a CPU decodes spans"); },
      [&](StreamHandle stream) { cuda::PlainDecode(in, format, numbers, out, stream); });
}

// i32 that both of the following need beside; what they do: cuda/checksum.h.
inline constexpr int64_t kChecksumScratch = cuda::kChecksumBlocks;

inline void Checksum(const Tensor& bytes, const Tensor& count, Tensor& checksum, Tensor& scratch) {
  AtDoor(
      "checksum", bytes.device(), [] { TORUS_CHECK(false, "a CPU has crc32c.h"); },
      [&](StreamHandle stream) { cuda::Checksum(bytes, count, checksum, scratch, stream); });
}

inline void CompareChecksum(const Tensor& bytes, uint32_t expected, Tensor& damaged,
                            Tensor& scratch) {
  AtDoor(
      "checksum", bytes.device(), [] { TORUS_CHECK(false, "a CPU has crc32c.h"); },
      [&](StreamHandle stream) {
        cuda::CompareChecksum(bytes, expected, damaged, scratch, stream);
      });
}

}  // namespace torus::parallel::kernels
