// CRC-32C (crc32c.h) of bytes in GPU memory.
#pragma once

#include "runtime/tensor.h"

namespace torus::parallel::cuda {

inline constexpr int64_t kChecksumBlocks = 256;

// Sets `checksum`, one i64, to the CRC of the first `count` bytes of `bytes`, u8, aligned to 8
// bytes. `count` is one i64 in GPU memory. `scratch`: kChecksumBlocks i32.
void Checksum(const Tensor& bytes, const Tensor& count, Tensor& checksum, Tensor& scratch,
              StreamHandle stream);

// Sets `damaged`, one i32, to 1 if the checksum of all of `bytes` is not `expected`.
void CompareChecksum(const Tensor& bytes, uint32_t expected, Tensor& damaged, Tensor& scratch,
                     StreamHandle stream);

}  // namespace torus::parallel::cuda
