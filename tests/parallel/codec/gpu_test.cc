// Sort quantization on a GPU: the CPU's bytes and the CPU's values. Skips where there is no GPU:
// run it with --config=emulated_gpu.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "parallel/codec/gpu_codec.h"
#include "parallel/codec/make_codec.h"
#include "runtime/error.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"
#include "tests/parallel/codec/exact_sort.h"

namespace torus::parallel {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};
constexpr int kBits[] = {16, 12, 8, 4};

class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

Tensor BytesOn(Device device, size_t count) {
  return Tensor({static_cast<int64_t>(count)}, DType::kU8, device);
}

Tensor OnGpuTensor(const std::vector<float>& values) {
  return FromVector(values, {static_cast<int64_t>(values.size())}).To(kGpu);
}

struct Encoded {
  int64_t written = 0;
  Tensor bytes;  // on the GPU, of the most that the codec writes
};

Encoded EncodeThere(const Codec& codec, const Tensor& values) {
  const GpuCodec& gpu = *codec.on_gpu();
  Encoded encoded{0, BytesOn(kGpu, codec.MaxEncodedBytes(values.numel()))};
  Tensor written({1}, DType::kI64, kGpu), scratch = BytesOn(kGpu, gpu.ScratchBytes(values.numel()));
  gpu.Encode(values, encoded.bytes, written, scratch);
  encoded.written = static_cast<int64_t>(written.To(Device{}).Item());
  return encoded;
}

std::vector<std::byte> Bytes(const Encoded& encoded) {
  std::vector<std::byte> bytes;
  for (uint8_t byte : ToVector<uint8_t>(encoded.bytes.To(Device{})))
    bytes.push_back(std::byte{byte});
  return bytes;
}

std::vector<uint32_t> BitsOf(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (float value : values) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

std::vector<float> DecodeThere(const Codec& codec, const Tensor& bytes, int64_t count,
                               DType dtype = DType::kF32) {
  Tensor out({count}, dtype, kGpu);
  codec.on_gpu()->Decode(bytes, out);
  return ToVector<float>(out.To(Device{}).To(DType::kF32));
}

// Both ways, against the CPU's codec.
void ExpectTheCpus(const Tensor& values, int bits) {
  SortQuantization codec(bits);
  const std::vector<float> here = ToVector<float>(values.To(Device{}).To(DType::kF32));
  const std::vector<std::byte> want = Encode(codec, here);
  const Encoded got = EncodeThere(codec, values);
  ASSERT_EQ(got.written, static_cast<int64_t>(want.size()));
  ASSERT_EQ(Bytes(got), want);
  const std::vector<float> back = Decode(codec, want, here.size());
  const int64_t count = values.numel();
  ASSERT_EQ(BitsOf(DecodeThere(codec, got.bytes, count)), BitsOf(back));
  const std::vector<float> rounded =
      ToVector<float>(FromVector(back, {count}).To(DType::kBF16).To(DType::kF32));
  ASSERT_EQ(BitsOf(DecodeThere(codec, got.bytes, count, DType::kBF16)), BitsOf(rounded));
}

TEST_F(OnGpu, SameBytesAsTheCpuOnEveryDistribution) {
  for (const std::string& name : Distributions())
    for (size_t count : {1u, 2u, 15u, 16u, 17u, 1000u, 20011u})
      for (int bits : kBits) {
        SCOPED_TRACE(fmt::format("{} bits, {} of {}", bits, count, name));
        ASSERT_NO_FATAL_FAILURE(ExpectTheCpus(OnGpuTensor(Draw(name, count, 7)), bits));
      }
}

// Several blocks count, cut and quantize; equal values are found among many parts.
TEST_F(OnGpu, SameBytesAsTheCpuOfManyValues) {
  for (const std::string name : {"normal", "relu", "constant", "few_values", "ascending"})
    for (int bits : kBits) {
      SCOPED_TRACE(fmt::format("{} bits of {}", bits, name));
      ASSERT_NO_FATAL_FAILURE(ExpectTheCpus(OnGpuTensor(Draw(name, 300007, 3)), bits));
    }
}

TEST_F(OnGpu, SameBytesAsTheCpuOfTwoFarHills) {
  std::vector<float> values = Draw("normal", 50001, 9);
  for (size_t i = 0; i < values.size(); i += 2) values[i] = 1e6f + values[i] / 16;
  for (int bits : kBits) ASSERT_NO_FATAL_FAILURE(ExpectTheCpus(OnGpuTensor(values), bits));
}

// Where cuts lie among zeros, the sign of the zero at the cut is sent.
TEST_F(OnGpu, SameBytesAsTheCpuOfZerosOfBothSigns) {
  for (size_t count : {5u, 64u, 9001u, 30011u}) {
    std::mt19937 rng(static_cast<uint32_t>(count));
    std::vector<float> values(count);
    for (float& value : values) value = rng() % 2 ? 0.0f : -0.0f;
    for (int bits : kBits) ASSERT_NO_FATAL_FAILURE(ExpectTheCpus(OnGpuTensor(values), bits));
  }
}

TEST_F(OnGpu, LowTypesAreEncodedAsTheFloatsOfTheirValues) {
  for (const DType low : {DType::kBF16, DType::kF16})
    for (const std::string name : {"normal", "relu6", "signed_zeros"})
      for (size_t count : {9u, 4099u, 40007u})
        for (int bits : kBits) {
          SCOPED_TRACE(fmt::format("{} bits, {} {} of {}", bits, count, Name(low), name));
          const Tensor values = OnGpuTensor(Draw(name, count, 5)).To(low);
          ASSERT_NO_FATAL_FAILURE(ExpectTheCpus(values, bits));
        }
}

// Vector loads need memory aligned to 16 bytes: what begins elsewhere is read one by one.
TEST_F(OnGpu, ValuesMayBeginAnywhere) {
  const Tensor all = OnGpuTensor(Draw("normal", 5003, 2));
  for (const Tensor& whole : {all, all.To(DType::kBF16)})
    for (int64_t offset : {1, 2, 3})
      for (int bits : kBits)
        ASSERT_NO_FATAL_FAILURE(ExpectTheCpus(whole.Narrow(0, offset, 5000), bits));
  SortQuantization codec(8);
  const Encoded encoded = EncodeThere(codec, all);
  Tensor out = Empty({5004}, DType::kF32, kGpu).Narrow(0, 1, 5003);
  codec.on_gpu()->Decode(encoded.bytes, out);
  EXPECT_EQ(ToVector<float>(out.To(Device{})), DecodeThere(codec, encoded.bytes, 5003));
}

TEST_F(OnGpu, EmptyIsAHeaderOfZeros) {
  for (int bits : kBits) {
    const Tensor none = Empty({0}, DType::kF32, kGpu);
    ASSERT_NO_FATAL_FAILURE(ExpectTheCpus(none, bits));
  }
}

TEST_F(OnGpu, SaysThatAValueIsNotFinite) {
  constexpr size_t kCount = 30001;
  for (float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::quiet_NaN(), -std::nanf("")})
    for (size_t where : {size_t{0}, size_t{20000}, kCount - 1}) {
      std::vector<float> values = Draw("huge", kCount, 4);
      SortQuantization codec(where % 2 ? 16 : 8);
      EXPECT_GT(EncodeThere(codec, OnGpuTensor(values)).written, 0);
      values[where] = bad;
      const Tensor there = OnGpuTensor(values);
      EXPECT_EQ(EncodeThere(codec, there).written, 0) << bad << " at " << where;
      EXPECT_EQ(EncodeThere(codec, there.To(DType::kBF16)).written, 0) << bad << " at " << where;
    }
}

// The emulation goes through threads and blocks in the opposite direction every second time.
TEST_F(OnGpu, TheSameBytesAgain) {
  SortQuantization codec(12);
  const Tensor values = OnGpuTensor(Draw("few_values", 60007, 8));
  const std::vector<std::byte> once = Bytes(EncodeThere(codec, values));
  EXPECT_EQ(Bytes(EncodeThere(codec, values)), once);
  const Tensor one_launch_more = Full({1}, 0, DType::kF32, kGpu);
  EXPECT_EQ(Bytes(EncodeThere(codec, values)), once);
}

// Scratch memory holds what the tensor before has left.
TEST_F(OnGpu, MemoryIsUsedAgain) {
  SortQuantization codec(8);
  const GpuCodec& gpu = *codec.on_gpu();
  Tensor scratch = BytesOn(kGpu, gpu.ScratchBytes(40000)), written({1}, DType::kI64, kGpu);
  Tensor bytes = BytesOn(kGpu, codec.MaxEncodedBytes(40000));
  for (const std::string name : {"relu", "normal", "constant", "relu"})
    for (int64_t count : {40000, 39, 10001}) {
      const std::vector<float> values = Draw(name, static_cast<size_t>(count), 6);
      gpu.Encode(OnGpuTensor(values), bytes, written, scratch);
      const std::vector<std::byte> want = Encode(codec, values);
      const Tensor front = bytes.Narrow(0, 0, static_cast<int64_t>(want.size()));
      ASSERT_EQ(Bytes({0, front}), want) << count << " of " << name;
    }
}

TEST_F(OnGpu, RunsInTheCurrentStream) {
  SortQuantization codec(8);
  const std::vector<float> values = Draw("normal", 1000, 1);
  const Tensor there = OnGpuTensor(values);
  Stream beside(kGpu);
  const WithStream in_it(beside);
  const Encoded encoded = EncodeThere(codec, there);
  EXPECT_EQ(Bytes(encoded), Encode(codec, values));
}

TEST_F(OnGpu, BytesOfAnotherCountBecomeNaN) {
  SortQuantization codec(4);  // 9 and 10 values have equally many bytes
  const Encoded ten = EncodeThere(codec, OnGpuTensor(Draw("normal", 10, 1)));
  for (float value : DecodeThere(codec, ten.bytes, 9)) EXPECT_TRUE(std::isnan(value));
}

TEST_F(OnGpu, RefusesWhatDoesNotFit) {
  SortQuantization codec(12);
  const GpuCodec& gpu = *codec.on_gpu();
  const Tensor values = OnGpuTensor(Draw("normal", 9, 1));
  const size_t most = codec.MaxEncodedBytes(9);
  Tensor out = BytesOn(kGpu, most), written({1}, DType::kI64, kGpu);
  Tensor scratch = BytesOn(kGpu, gpu.ScratchBytes(9));
  Tensor short_out = BytesOn(kGpu, most - 1), short_scratch = BytesOn(kGpu, 8);
  Tensor on_cpu = BytesOn(Device{}, most), crooked = BytesOn(kGpu, most + 4).Narrow(0, 4, most);
  EXPECT_THROW(gpu.Encode(values, short_out, written, scratch), BadInput);
  EXPECT_THROW(gpu.Encode(values, on_cpu, written, scratch), BadInput);
  EXPECT_THROW(gpu.Encode(values, crooked, written, scratch), BadInput);
  EXPECT_THROW(gpu.Encode(values, out, written, short_scratch), BadInput);
  EXPECT_THROW(gpu.Encode(values.To(DType::kF64), out, written, scratch), BadInput);
  EXPECT_THROW(gpu.Encode(values.To(Device{}), out, written, scratch), BadInput);
  Tensor eight({8}, DType::kF32, kGpu);
  EXPECT_THROW(gpu.Decode(out, eight), BadInput);
}

TEST(GpuCodec, IsThereInBuildsWithGpusAlone) {
  EXPECT_EQ(MakeCodec("none")->on_gpu(), nullptr);
  EXPECT_EQ(MakeCodec("sortq:8")->on_gpu() != nullptr, kHasCuda);
}

}  // namespace
}  // namespace torus::parallel
