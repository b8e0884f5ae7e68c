// The kernels of codecs, which only GPUs have. On a CPU, codecs work on spans instead (codec.h).
#pragma once

#include "parallel/codec/plain_format.h"
#include "parallel/codec/sortq_format.h"
#include "runtime/kernel_table.h"

namespace torus::parallel {

// Sort quantization; SortQuantizationOnGpu has checked the tensors.
TORUS_GPU_KERNEL(SortqEncode, "sortq", in.device(),
                 (const Tensor& in, SortqFormat format, Tensor& out, Tensor& written,
                  Tensor& scratch),
                 (in, format, out, written, scratch));
TORUS_GPU_KERNEL(SortqDecode, "sortq", out.device(),
                 (const Tensor& in, SortqFormat format, Tensor& out), (in, format, out));

// The 256 numbers of dynamic8, ascending, and the middles between them (nearest_number.h).
struct Numbers8 {
  float numbers[256] = {};
  float middles[256] = {};
};

inline constexpr size_t kPlainScratch = 64;  // bytes

// Uniform quantization, small floats and dynamic8, which alone uses `numbers`; PlainCodecOnGpu has
// checked the tensors.
TORUS_GPU_KERNEL(PlainEncode, "codec", in.device(),
                 (const Tensor& in, const PlainFormat& format, const Numbers8& numbers, Tensor& out,
                  Tensor& written, Tensor& scratch),
                 (in, format, numbers, out, written, scratch));
TORUS_GPU_KERNEL(PlainDecode, "codec", out.device(),
                 (const Tensor& in, const PlainFormat& format, const Numbers8& numbers,
                  Tensor& out),
                 (in, format, numbers, out));

// Scratch i32 values that both of the following need.
inline constexpr int64_t kChecksumScratch = 256;

// Sets `checksum`, one i64, to the CRC-32C (crc32c.h) of the first `count` bytes of `bytes`, u8,
// aligned to 8 bytes. `count` is one i64 in GPU memory.
TORUS_GPU_KERNEL(Checksum, "checksum", bytes.device(),
                 (const Tensor& bytes, const Tensor& count, Tensor& checksum, Tensor& scratch),
                 (bytes, count, checksum, scratch));

// Sets `damaged`, one i32, to 1 if the checksum of all of `bytes` is not `expected`.
TORUS_GPU_KERNEL(CompareChecksum, "checksum", bytes.device(),
                 (const Tensor& bytes, uint32_t expected, Tensor& damaged, Tensor& scratch),
                 (bytes, expected, damaged, scratch));

}  // namespace torus::parallel
