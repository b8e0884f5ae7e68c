// GPU kernels of codecs, called through runtime/door.h. On a CPU, codecs work on spans instead
// (codec.h).
#pragma once

#include "parallel/codec/cuda/checksum.h"
#include "parallel/codec/cuda/plain.h"
#include "parallel/codec/cuda/sortq.h"
#include "runtime/gpu_door.h"

namespace torus::parallel::kernels {

// SortQuantizationOnGpu has checked the tensors.
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

// PlainCodecOnGpu has checked the tensors.
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

// Scratch i32 values that both of the following need. cuda/checksum.h says what they do.
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
