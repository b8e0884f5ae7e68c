// Damaged payloads for the decoders on GPUs. Skips where there is no GPU: run it with
// --config=emulated_gpu, and with asan too, which then guards the ends of the GPUs' blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "parallel/codec/crc32c.h"
#include "parallel/codec/gpu_codec.h"
#include "parallel/codec/kernels.h"
#include "parallel/codec/make_codec.h"
#include "runtime/error.h"
#include "tests/fuzz/fuzz.h"

namespace torus::fuzz {
namespace {

using parallel::Codec;

constexpr Device kGpu{DeviceKind::kCuda, 0};
const char* const kCodecs[] = {"sortq:4",   "sortq:8",    "sortq:12",     "sortq:16",  "uniform:8",
                               "uniform:3", "uniform:12", "f16",          "bf16",      "f8:e4m3",
                               "f8:e5m2",   "dynamic8",   "dynamic8:100", "dynamic8:3"};
// Of several groups of eight and a rest; of two blocks of threads.
constexpr int64_t kCounts[] = {420, 2051};

class GpuDecoders : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

struct Payload {
  std::shared_ptr<Codec> codec;
  int64_t count;
  Bytes good;
};

Payload PayloadOf(const char* name, int64_t count) {
  const RandomStream stream({.layer = HashName("GPU codec fuzz")});
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(stream.Normal(i)));
  Payload payload{parallel::MakeCodec(name), count, {}};
  payload.good.resize(payload.codec->MaxEncodedBytes(count));
  const size_t written =
      payload.codec->Encode(values, std::as_writable_bytes(std::span(payload.good)));
  payload.good.resize(written);
  return payload;
}

Tensor There(const Bytes& bytes) {
  return FromVector(bytes, {static_cast<int64_t>(bytes.size())}).To(kGpu);
}

// What a decoder makes of bytes: the bits of the values, or why it refuses them.
struct Reading {
  std::vector<uint32_t> bits;
  std::string refusal;
};

Reading OnCpu(const Payload& payload, const Bytes& bytes) {
  std::vector<float> values(static_cast<size_t>(payload.count));
  try {
    payload.codec->Decode(std::as_bytes(std::span(bytes)), values);
  } catch (const BadInput& error) {
    return {{}, error.what()};
  }
  Reading reading;
  for (const float value : values) reading.bits.push_back(std::bit_cast<uint32_t>(value));
  return reading;
}

// What only the GPU sees is refused by NaN: nothing there waits to throw (gpu_codec.h).
Reading OnGpu(const Payload& payload, const Bytes& bytes) {
  Tensor values({payload.count}, DType::kF32, kGpu);
  try {
    payload.codec->on_gpu()->Decode(There(bytes), values);
  } catch (const BadInput& error) {
    return {{}, error.what()};
  }
  Reading reading;
  for (const float value : ToVector<float>(values.To(Device{}))) {
    if (std::isnan(value)) reading.refusal = "holds what no encoder writes";
    reading.bits.push_back(std::bit_cast<uint32_t>(value));
  }
  return reading;
}

// Any exception but BadInput fails the run with the number of the input (RunFuzz).
void ReadAsTheCpuDoes(const Payload& payload, const Bytes& bytes) {
  const Reading here = OnCpu(payload, bytes), there = OnGpu(payload, bytes);
  if (here.refusal.empty() != there.refusal.empty())
    throw std::logic_error(
        fmt::format("the CPU says \"{}\", the GPU \"{}\"", here.refusal, there.refusal));
  Require(there.refusal.empty(), "fuzz", "{}", there.refusal);
  if (here.bits != there.bits) throw std::logic_error("the GPU's values are not the CPU's");
}

// As no link hands them on, whose checksum covers them: the decoder's own bounds. Bytes of another
// number are refused unread, so each input is read a second time, cut or filled up to the right
// one.
TEST_F(GpuDecoders, RefuseWhatTheCpuRefusesAndReadTheRestAlike) {
  for (const char* name : kCodecs)
    for (const int64_t count : kCounts) {
      const Payload payload = PayloadOf(name, count);
      RunFuzz({.name = fmt::format("{} of {} on a GPU", name, count),
               .seeds = {payload.good},
               .read =
                   [=](const Bytes& bytes) {
                     Bytes fitted = bytes;
                     fitted.resize(payload.good.size());
                     ReadAsTheCpuDoes(payload, fitted);
                     ReadAsTheCpuDoes(payload, bytes);
                   },
               .most_bytes = size_t{1} << 40,  // a GPU's driver reserves as it likes
               .inputs = 1000});
    }
}

// Whether a link would see that the payload is not what was sent.
bool IsSeen(const Bytes& bytes, uint32_t expected) {
  Tensor damaged = Full({1}, 0, DType::kI32, kGpu);
  Tensor scratch({parallel::kernels::kChecksumScratch}, DType::kI32, kGpu);
  parallel::kernels::CompareChecksum(There(bytes), expected, damaged, scratch);
  return damaged.To(Device{}).Item() != 0;
}

// 65,536 threads find a checksum, which an emulated GPU takes in turn: so these are few, whatever
// number is asked for.
TEST_F(GpuDecoders, TheChecksumSeesAllDamage) {
  int64_t number = 0;
  for (const char* name : kCodecs) {
    const Bytes good = PayloadOf(name, kCounts[0]).good;
    const uint32_t expected = parallel::Crc32c(std::as_bytes(std::span(good)));
    EXPECT_FALSE(IsSeen(good, expected)) << name;
    for (const int64_t end = number + 3; number < end; ++number) {
      const Bytes bytes = Mutator(static_cast<uint64_t>(number)).Mutate(good, good);
      EXPECT_EQ(IsSeen(bytes, expected), bytes != good) << name << ", input " << number;
    }
  }
}

}  // namespace
}  // namespace torus::fuzz
