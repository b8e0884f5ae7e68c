// CRC-32C (crc32c.h) of bytes in a GPU's memory.
#pragma once

#include "runtime/tensor.h"

namespace torus::parallel::cuda {

inline constexpr int64_t kChecksumBlocks = 256;

// `checksum`, one i64, becomes that of the first `count` bytes of `bytes`, u8, aligned to 8 bytes;
// `count`: one i64 in the memory of the GPU. `scratch`: kChecksumBlocks i32.
void Checksum(const Tensor& bytes, const Tensor& count, Tensor& checksum, Tensor& scratch,
              StreamHandle stream);

// `damaged`, one i32, becomes 1 where the checksum of all of `bytes` is not `expected`.
void CompareChecksum(const Tensor& bytes, uint32_t expected, Tensor& damaged, Tensor& scratch,
                     StreamHandle stream);

}  // namespace torus::parallel::cuda
