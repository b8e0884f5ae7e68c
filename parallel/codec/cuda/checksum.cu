#include <algorithm>

#include "parallel/codec/kernels.h"
#include "runtime/crc_shift.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/block.h"

namespace torus::parallel::cuda {
namespace {

using torus::cuda::Elements;
using torus::cuda::MutableElements;

constexpr int kThreads = 256;

struct Xor {
  __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a ^ b; }
};

// The number of bytes: in GPU memory, or known on the CPU.
struct Count {
  const int64_t* there = nullptr;
  int64_t known = 0;
  __device__ int64_t Get() const { return there != nullptr ? *there : known; }
};

// of_blocks[b]: the sum of the CRCs of the pieces of block b's threads, each shifted by the bytes
// after it. A piece is several whole words of eight bytes; the last may end with part of one.
__global__ void SumPiecesKernel(const uint8_t* bytes, Count count, int32_t* of_blocks) {
  __shared__ uint32_t table[kThreads];
  table[threadIdx.x] = CrcOfByte(threadIdx.x);
  __syncthreads();
  const int64_t all = count.Get(), threads = int64_t{gridDim.x} * kThreads;
  const int64_t piece = ((all + threads - 1) / threads + 7) / 8 * 8;
  const int64_t begin = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * piece;
  const int64_t end = begin + piece < all ? begin + piece : all;
  uint32_t sum = 0;
  int64_t i = begin;
  for (; i + 8 <= end; i += 8) {
    uint64_t word = *reinterpret_cast<const uint64_t*>(bytes + i);
    for (int b = 0; b < 8; ++b, word >>= 8) sum = sum >> 8 ^ table[(sum ^ word) & 0xff];
  }
  for (; i < end; ++i) sum = sum >> 8 ^ table[(sum ^ bytes[i]) & 0xff];
  if (begin < end) sum = MultiplyCrc(sum, CrcShift(static_cast<uint64_t>(all - end)));
  sum = torus::cuda::CombineBlock<kThreads>(sum, Xor());
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = static_cast<int32_t>(sum);
}

__device__ uint32_t WholeSum(const int32_t* of_blocks, unsigned blocks, int64_t count) {
  static_assert(kThreads == kChecksumScratch);
  const int32_t own = threadIdx.x < blocks ? of_blocks[threadIdx.x] : 0;
  const uint32_t sum = torus::cuda::CombineBlock<kThreads>(static_cast<uint32_t>(own), Xor());
  return CrcOfSum(sum, static_cast<uint64_t>(count));
}

// Runs in one block.
__global__ void KeepChecksumKernel(const int32_t* of_blocks, unsigned blocks, Count count,
                                   int64_t* checksum) {
  const uint32_t whole = WholeSum(of_blocks, blocks, count.Get());
  if (threadIdx.x == 0) *checksum = static_cast<int64_t>(whole);
}

__global__ void CompareKernel(const int32_t* of_blocks, unsigned blocks, Count count,
                              uint32_t expected, int32_t* damaged) {
  const uint32_t whole = WholeSum(of_blocks, blocks, count.Get());
  if (threadIdx.x == 0 && whole != expected) *damaged = 1;
}

// Blocks of which every thread has a word, if there are so many bytes.
unsigned BlocksFor(const Tensor& bytes) {
  constexpr int64_t kOfBlock = 8 * kThreads, kMost = kChecksumScratch;
  return static_cast<unsigned>(std::clamp<int64_t>(bytes.numel() / kOfBlock + 1, 1, kMost));
}

void SumPieces(const Tensor& bytes, Count count, Tensor& scratch, StreamHandle stream) {
  torus::cuda::Launch("checksum", BlocksFor(bytes), kThreads, 0, stream, SumPiecesKernel,
                      Elements<uint8_t>(bytes), count, MutableElements<int32_t>(scratch));
}

}  // namespace

void Checksum(const Tensor& bytes, const Tensor& count, Tensor& checksum, Tensor& scratch) {
  const StreamHandle stream = CurrentStream(bytes.device());
  const Count there{.there = Elements<int64_t>(count)};
  SumPieces(bytes, there, scratch, stream);
  torus::cuda::Launch("checksum", 1, kThreads, 0, stream, KeepChecksumKernel,
                      Elements<int32_t>(scratch), BlocksFor(bytes), there,
                      MutableElements<int64_t>(checksum));
}

void CompareChecksum(const Tensor& bytes, uint32_t expected, Tensor& damaged, Tensor& scratch) {
  const StreamHandle stream = CurrentStream(bytes.device());
  const Count known{.known = bytes.numel()};
  SumPieces(bytes, known, scratch, stream);
  torus::cuda::Launch("checksum", 1, kThreads, 0, stream, CompareKernel, Elements<int32_t>(scratch),
                      BlocksFor(bytes), known, expected, MutableElements<int32_t>(damaged));
}

}  // namespace torus::parallel::cuda
