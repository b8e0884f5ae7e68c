#include "parallel/codec/sort_quantization.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "parallel/codec/bit_pack.h"
#include "parallel/codec/bucket_plan.h"
#include "parallel/codec/for_each_block.h"
#include "parallel/codec/quantize_kernel.h"
#include "runtime/error.h"
#include "runtime/on_device.h"

namespace torus::parallel {
namespace {

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

void CheckScale(const BucketScale& scale, const std::string& name) {
  for (int k = 0; k < scale.buckets; ++k)
    Require(std::isfinite(scale.minimum[k]) && std::isfinite(scale.step[k]) && scale.step[k] >= 0,
            name, "needs a finite minimum and step, got {} and {} of bucket {}", scale.minimum[k],
            scale.step[k], k);
}

}  // namespace

std::string SortQuantization::NameOf(SortqFormat format) {
  if (format.bucket_bits() == format.bits / 4) return fmt::format("sortq:{}", format.bits);
  return fmt::format("sortq:Q{}S{}", format.step_bits(), format.bucket_bits());
}

SortQuantization::SortQuantization(SortqFormat format)
    : format_(format), name_(NameOf(format)), on_gpu_(format_, name_) {
  constexpr int kMost = SortqFormat::kMaxBucketBits;
  Require(step_bits() >= 1 && bucket_bits() >= 0 && bucket_bits() <= kMost && bits() <= 16, "sortq",
          "takes Q of at least 1, S of 0 to {} and at most 16 bits in all, got Q{}S{}", kMost,
          step_bits(), bucket_bits());
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
    std::array<uint16_t, kCodecBlock> codes;
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
  CheckScale(scale, name_);
  const std::byte* packed = in.data() + format_.HeaderBytes();
  ForEachBlock(count, [&](int64_t begin, int64_t end) {
    std::array<uint16_t, kCodecBlock> codes;
    UnpackBits(packed + PackedBytes(begin, bits()), end - begin, bits(), codes.data());
    Dequantize(codes.data(), end - begin, scale, out.data() + begin);
  });
}

const GpuCodec* SortQuantization::on_gpu() const {
  const bool quarter = bits() % 4 == 0 && bucket_bits() == bits() / 4;
  return kHasCuda && quarter ? &on_gpu_ : nullptr;
}

}  // namespace torus::parallel
