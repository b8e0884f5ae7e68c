#include "parallel/codec/sort_quantization.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "parallel/codec/bit_pack.h"
#include "parallel/codec/bucket_plan.h"
#include "parallel/codec/quantize_kernel.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"

namespace torus::parallel {
namespace {

constexpr int64_t kBlock =
    2048;  // values whose codes stay in the nearest cache; a whole number of bytes at any b
constexpr int64_t kBlocksPerThread = 16;

// Calls body(begin, end) for blocks of values.
template <class Body>
void ForEachBlock(int64_t count, const Body& body) {
  ParallelFor((count + kBlock - 1) / kBlock, kBlocksPerThread, [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block)
      body(block * kBlock, std::min(count, (block + 1) * kBlock));
  });
}

void WriteHeader(uint64_t count, const BucketScale& scale, std::byte* out) {
  std::memcpy(out, &count, 8);
  for (int k = 0; k < scale.buckets; ++k) {
    std::memcpy(out + 8 + 8 * k, &scale.minimum[k], 4);
    std::memcpy(out + 12 + 8 * k, &scale.step[k], 4);
  }
}

uint64_t ReadHeader(const std::byte* in, BucketScale& scale) {
  for (int k = 0; k < scale.buckets; ++k) {
    std::memcpy(&scale.minimum[k], in + 8 + 8 * k, 4);
    std::memcpy(&scale.step[k], in + 12 + 8 * k, 4);
  }
  uint64_t count;
  std::memcpy(&count, in, 8);
  return count;
}

}  // namespace

SortQuantization::SortQuantization(int bits)
    : format_{bits}, name_(fmt::format("sortq:{}", bits)), on_gpu_(format_, name_) {
  Require(bits == 16 || bits == 12 || bits == 8 || bits == 4, "sortq",
          "takes 16, 12, 8 or 4 bits a value, got {}", bits);
}

size_t SortQuantization::Encode(std::span<const float> in, std::span<std::byte> out) {
  const int64_t count = static_cast<int64_t>(in.size());
  Require(out.size() >= EncodedBytes(count), name_, "{} values need {} bytes, got room for {}",
          count, EncodedBytes(count), out.size());
  const BucketPlan plan(in, format_);
  if (!plan.finite()) return 0;
  WriteHeader(in.size(), plan.scale(), out.data());
  std::byte* packed = out.data() + format_.HeaderBytes();
  ForEachBlock(count, [&](int64_t begin, int64_t end) {
    std::array<uint16_t, kBlock> codes;
    plan.Quantize(in, begin, end, codes.data());
    PackBits(codes.data(), end - begin, bits(), packed + PackedBytes(begin, bits()));
  });
  return EncodedBytes(count);
}

void SortQuantization::Decode(std::span<const std::byte> in, std::span<float> out) {
  const int64_t count = static_cast<int64_t>(out.size());
  Require(in.size() == EncodedBytes(count), name_, "{} values are {} bytes, got {}", count,
          EncodedBytes(count), in.size());
  BucketScale scale{buckets(), step_bits(), {}, {}};
  const uint64_t sent = ReadHeader(in.data(), scale);
  Require(sent == out.size(), name_, "the bytes hold {} values, asked for {}", sent, count);
  const std::byte* packed = in.data() + format_.HeaderBytes();
  ForEachBlock(count, [&](int64_t begin, int64_t end) {
    std::array<uint16_t, kBlock> codes;
    UnpackBits(packed + PackedBytes(begin, bits()), end - begin, bits(), codes.data());
    Dequantize(codes.data(), end - begin, scale, out.data() + begin);
  });
}

const GpuCodec* SortQuantization::on_gpu() const { return kHasCuda ? &on_gpu_ : nullptr; }

}  // namespace torus::parallel
