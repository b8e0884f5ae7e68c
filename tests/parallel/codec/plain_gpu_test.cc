// Uniform quantization, small floats and dynamic8 on a GPU, and checksums there: the CPU's bytes
// and the CPU's values. Skips where there is no GPU: run it with --config=emulated_gpu.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "parallel/codec/gpu_codec.h"
#include "parallel/codec/kernels.h"
#include "parallel/codec/make_codec.h"
#include "runtime/crc32c.h"
#include "runtime/error.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"
#include "tests/parallel/codec/exact_sort.h"
#include "tests/parallel/codec/round_trip.h"

namespace torus::parallel {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};
const char* const kCodecs[] = {"uniform:8",  "uniform:1", "uniform:3",    "uniform:12",
                               "uniform:16", "f16",       "bf16",         "f8:e4m3",
                               "f8:e5m2",    "dynamic8",  "dynamic8:100", "dynamic8:30"};

class PlainOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

Tensor BytesOn(size_t count) { return Tensor({static_cast<int64_t>(count)}, DType::kU8, kGpu); }

Tensor There(const std::vector<float>& values) {
  return FromVector(values, {static_cast<int64_t>(values.size())}).To(kGpu);
}

// What Encode wrote; empty where it says 0.
Tensor EncodeThere(const Codec& codec, const Tensor& values) {
  const GpuCodec& gpu = *codec.on_gpu();
  Tensor out = BytesOn(codec.MaxEncodedBytes(values.numel()));
  Tensor written({1}, DType::kI64, kGpu), scratch = BytesOn(gpu.ScratchBytes(values.numel()));
  gpu.Encode(values, out, written, scratch);
  return out.Narrow(0, 0, static_cast<int64_t>(written.To(Device{}).Item()));
}

std::vector<std::byte> Bytes(const Tensor& tensor) {
  std::vector<std::byte> bytes;
  for (const uint8_t byte : ToVector<uint8_t>(tensor.To(Device{})))
    bytes.push_back(std::byte{byte});
  return bytes;
}

std::vector<uint32_t> BitsOf(const Tensor& values) {
  std::vector<uint32_t> bits;
  for (const float value : ToVector<float>(values.To(Device{}).To(DType::kF32)))
    bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

Tensor DecodeThere(const Codec& codec, const Tensor& bytes, int64_t count, DType dtype) {
  Tensor out({count}, dtype, kGpu);
  codec.on_gpu()->Decode(bytes, out);
  return out;
}

void ExpectTheCpus(const char* name, const Tensor& values) {
  const auto codec = MakeCodec(name);
  const std::vector<float> here = ToVector<float>(values.To(Device{}).To(DType::kF32));
  const std::vector<std::byte> want = EncodeFlat(*codec, here);
  const Tensor got = EncodeThere(*codec, values);
  ASSERT_EQ(Bytes(got), want);
  const Tensor back = FromVector(DecodeFlat(*codec, want, here.size()), {values.numel()});
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16})
    ASSERT_EQ(BitsOf(DecodeThere(*codec, got, values.numel(), dtype)), BitsOf(back.To(dtype)))
        << Name(dtype);
}

TEST_F(PlainOnGpu, SameBytesAsTheCpuOnEveryDistribution) {
  for (const char* codec : kCodecs)
    for (const std::string& name : Distributions())
      for (const size_t count : {1u, 7u, 8u, 9u, 1001u, 5000u}) {
        SCOPED_TRACE(fmt::format("{}, {} of {}", codec, count, name));
        ASSERT_NO_FATAL_FAILURE(ExpectTheCpus(codec, There(Draw(name, count, 7))));
      }
}

TEST_F(PlainOnGpu, SameBytesAsTheCpuOfManyValuesAndLowTypes) {
  for (const char* codec : kCodecs) {
    SCOPED_TRACE(codec);
    const Tensor values = There(Draw("normal", 70003, 3));
    ASSERT_NO_FATAL_FAILURE(ExpectTheCpus(codec, values));
    for (const DType low : {DType::kBF16, DType::kF16})
      ASSERT_NO_FATAL_FAILURE(ExpectTheCpus(codec, values.Narrow(0, 3, 4099).To(low)));
    ASSERT_NO_FATAL_FAILURE(ExpectTheCpus(codec, values.Narrow(0, 1, 5000)));  // aligned to 4
  }
}

// The widest range, whose uniform steps are computed in float64, and the least numbers there are.
TEST_F(PlainOnGpu, SameBytesAsTheCpuAtTheEndsOfFloat32) {
  const float most = std::numeric_limits<float>::max();
  const float least = std::numeric_limits<float>::denorm_min();
  for (const char* codec : kCodecs)
    for (const std::vector<float>& values : {std::vector<float>{-most, most, 0, most / 3, -1},
                                             {least, 3 * least, -2 * least, 0},
                                             {0, -0.0f, 0},
                                             {65504, 65505, -70000, 1e-8f},
                                             {448, 449, 57344, 1e-30f}})
      ASSERT_NO_FATAL_FAILURE(ExpectTheCpus(codec, There(values))) << codec;
}

TEST_F(PlainOnGpu, SaysThatAValueIsNotFinite) {
  for (const char* name : kCodecs)
    for (const float bad : {std::numeric_limits<float>::infinity(), -std::nanf("")}) {
      std::vector<float> values = Draw("normal", 9001, 4);
      values[8000] = bad;
      EXPECT_EQ(EncodeThere(*MakeCodec(name), There(values)).numel(), 0) << name << " " << bad;
    }
}

TEST_F(PlainOnGpu, BytesThatNoEncoderWritesBecomeNaN) {
  const auto expect_nan = [](const char* name, const std::vector<uint8_t>& bytes, int64_t count) {
    const auto codec = MakeCodec(name);
    const Tensor there = FromVector(bytes, {static_cast<int64_t>(bytes.size())}).To(kGpu);
    for (const uint32_t bits : BitsOf(DecodeThere(*codec, there, count, DType::kF32)))
      EXPECT_TRUE(std::isnan(std::bit_cast<float>(bits))) << name;
  };
  expect_nan("f16", {0x00, 0x7c, 0x01, 0x7e}, 2);                 // infinity, NaN
  expect_nan("bf16", {0x80, 0x7f}, 1);                            // infinity
  expect_nan("f8:e4m3", {0, 0, 0, 0, 0x7f}, 1);                   // NaN
  expect_nan("f8:e5m2", {0, 4, 0, 0, 0x01}, 1);                   // 2^1024
  expect_nan("uniform:8", {0, 0, 0, 0, 0, 0, 0x80, 0xbf, 0}, 1);  // a step of -1
  expect_nan("dynamic8", {0, 0, 0x80, 0x7f, 255}, 1);             // an infinite magnitude
}

TEST_F(PlainOnGpu, RefusesWhatDoesNotFit) {
  const auto codec = MakeCodec("uniform:8");
  const GpuCodec& gpu = *codec->on_gpu();
  const Tensor values = There(Draw("normal", 9, 1));
  const size_t most = codec->MaxEncodedBytes(9);
  Tensor out = BytesOn(most), written({1}, DType::kI64, kGpu);
  Tensor scratch = BytesOn(gpu.ScratchBytes(9)), short_out = BytesOn(most - 1);
  EXPECT_THROW(gpu.Encode(values, short_out, written, scratch), BadInput);
  EXPECT_THROW(gpu.Encode(values.To(Device{}), out, written, scratch), BadInput);
  EXPECT_THROW(gpu.Encode(values.To(DType::kF64), out, written, scratch), BadInput);
  Tensor eight({8}, DType::kF32, kGpu);
  EXPECT_THROW(gpu.Decode(out, eight), BadInput);
}

TEST_F(PlainOnGpu, ChecksumsAreTheCpus) {
  for (const size_t count : {0u, 1u, 8u, 13u, 4096u, 1000003u}) {
    std::vector<uint8_t> bytes(count + 5);  // what is behind does not count
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i >> 3);
    const uint32_t want = Crc32c(std::as_bytes(std::span(bytes).first(count)));
    const Tensor there = FromVector(bytes, {static_cast<int64_t>(bytes.size())}).To(kGpu);
    const Tensor size = Full({1}, static_cast<double>(count), DType::kI64, kGpu);
    Tensor sum({1}, DType::kI64, kGpu), scratch({kChecksumScratch}, DType::kI32, kGpu);
    kernels::Checksum(there, size, sum, scratch);
    EXPECT_EQ(static_cast<uint32_t>(ToVector<int64_t>(sum.To(Device{}))[0]), want) << count;
    if (count == 0) continue;
    const Tensor front = there.Narrow(0, 0, static_cast<int64_t>(count));
    for (const bool right : {true, false}) {
      Tensor damaged = Full({1}, 0, DType::kI32, kGpu);
      kernels::CompareChecksum(front, right ? want : want ^ 16, damaged, scratch);
      EXPECT_EQ(damaged.To(Device{}).Item(), right ? 0 : 1) << count;
    }
  }
}

TEST(PlainCodecs, HaveKernelsInBuildsWithGpusAlone) {
  for (const char* name : kCodecs) EXPECT_EQ(MakeCodec(name)->on_gpu() != nullptr, kHasCuda);
  for (const char* name : {"uniform:4:stochastic", "kmeans:4", "topk:0.1"})
    EXPECT_EQ(MakeCodec(name)->on_gpu(), nullptr) << name;
}

}  // namespace
}  // namespace torus::parallel
