#include "parallel/codec/uniform.h"

#include <array>
#include <cmath>
#include <cstring>

#include "parallel/codec/bit_pack.h"
#include "parallel/codec/bucket_step.h"
#include "parallel/codec/for_each_block.h"
#include "parallel/codec/quantize_kernel.h"
#include "parallel/codec/random_words.h"
#include "parallel/codec/value_range.h"
#include "runtime/error.h"
#include "runtime/on_device.h"

namespace torus::parallel {
namespace {

constexpr size_t kHeader = 2 * sizeof(float);

using Codes = std::array<uint16_t, kCodecBlock>;

// In float64, so that denormal steps and the widest range need no special case.
void QuantizeRandomly(const float* in, int64_t count, float least, float step, int bits,
                      const uint32_t* words, uint16_t* codes) {
  const double inverse = step > 0 ? 1 / double{step} : 0, most = (1 << bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    const double place = (double{in[i]} - least) * inverse;
    const double chance = static_cast<double>(static_cast<int32_t>(words[i] >> 1)) * 0x1p-31;
    codes[i] = static_cast<uint16_t>(static_cast<int32_t>(std::min(place + chance, most)));
  }
}

}  // namespace

Uniform::Uniform(int bits, bool stochastic)
    : bits_(bits),
      stochastic_(stochastic),
      on_gpu_({.codec = PlainCodec::kUniform, .bits = bits}, Uniform::name()) {
  Require(bits >= 1 && bits <= 16, "uniform", "takes 1 to 16 bits a value, got {}", bits);
}

std::string Uniform::name() const {
  return fmt::format("uniform:{}{}", bits_, stochastic_ ? ":stochastic" : "");
}

const GpuCodec* Uniform::on_gpu() const { return kHasCuda && !stochastic_ ? &on_gpu_ : nullptr; }

size_t Uniform::MaxTensorBytes(const Shape& shape) const {
  return on_gpu_.format().EncodedBytes(Numel(shape));
}

size_t Uniform::EncodeTensor(const CodecContext& context, std::span<const float> in,
                             std::span<std::byte> out) {
  const int64_t count = static_cast<int64_t>(in.size());
  const size_t bytes = on_gpu_.format().EncodedBytes(count);
  Require(out.size() >= bytes, name(), "{} values need {} bytes, got room for {}", count, bytes,
          out.size());
  const ValueRange range = RangeOf(in);
  if (!range.finite) return 0;
  const float step = BucketStep(range.least, range.greatest, bits_);
  const BucketScale scale{1, bits_, {range.least}, {step}};
  const auto nearest = FitsFloat(range.least, range.greatest, step) ? Quantize : QuantizeWide;
  std::memcpy(out.data(), &range.least, sizeof(float));
  std::memcpy(out.data() + sizeof(float), &step, sizeof(float));
  const RandomWords random(context, "uniform");
  ForEachBlock(count, [&](int64_t begin, int64_t end) {
    Codes codes;
    if (stochastic_) {
      std::array<uint32_t, kCodecBlock> words;
      random.Fill(begin, end - begin, words.data());
      QuantizeRandomly(in.data() + begin, end - begin, range.least, step, bits_, words.data(),
                       codes.data());
    } else {
      nearest(in.data() + begin, end - begin, scale, {}, codes.data());
    }
    PackBits(codes.data(), end - begin, bits_, out.data() + kHeader + PackedBytes(begin, bits_));
  });
  return bytes;
}

void Uniform::DecodeTensor(const CodecContext& /*context*/, std::span<const std::byte> in,
                           std::span<float> out) {
  const int64_t count = static_cast<int64_t>(out.size());
  const size_t bytes = on_gpu_.format().EncodedBytes(count);
  Require(in.size() == bytes, name(), "{} values are {} bytes, got {}", count, bytes, in.size());
  BucketScale scale{1, bits_, {}, {}};
  std::memcpy(&scale.minimum[0], in.data(), sizeof(float));
  std::memcpy(&scale.step[0], in.data() + sizeof(float), sizeof(float));
  Require(std::isfinite(scale.minimum[0]) && std::isfinite(scale.step[0]) && scale.step[0] >= 0,
          name(), "needs a finite least value and step, got {} and {}", scale.minimum[0],
          scale.step[0]);
  ForEachBlock(count, [&](int64_t begin, int64_t end) {
    Codes codes;
    UnpackBits(in.data() + kHeader + PackedBytes(begin, bits_), end - begin, bits_, codes.data());
    Dequantize(codes.data(), end - begin, scale, out.data() + begin);
  });
}

}  // namespace torus::parallel
