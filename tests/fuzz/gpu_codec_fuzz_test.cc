// Damaged payloads for the decoders on GPUs. Skips where there is no GPU: run it with
// --config=emulated_gpu, and with asan too, which then sees what reads beyond a payload.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "parallel/codec/gpu_codec.h"
#include "parallel/codec/kernels.h"
#include "parallel/codec/make_codec.h"
#include "runtime/crc32c.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "tests/fuzz/fuzz.h"

#if TORUS_GPUS == 2 && defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes)
#endif

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

// A tensor of a GPU's with nothing behind it: where AddressSanitizer watches an emulated GPU, an
// access beyond its end is an error. To be kept until the GPU's work is done.
class Guarded {
 public:
  Guarded(int64_t count, DType dtype) : whole_({count + kBehind}, dtype, kGpu), count_(count) {
    ASAN_POISON_MEMORY_REGION(End(), kBehind * whole_.bytes() / whole_.numel());
  }
  explicit Guarded(const Bytes& bytes) : Guarded(static_cast<int64_t>(bytes.size()), DType::kU8) {
    Tensor there = get();
    Copy(FromVector(bytes, {count_}), there);
  }
  ~Guarded() { ASAN_UNPOISON_MEMORY_REGION(End(), kBehind * whole_.bytes() / whole_.numel()); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  Tensor get() const { return whole_.Narrow(0, 0, count_); }

 private:
  static constexpr int64_t kBehind = 64;
  [[maybe_unused]] const char* End() const {
    return static_cast<const char*>(whole_.raw()) + get().bytes();
  }
  Tensor whole_;
  int64_t count_;
};

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
  const Guarded in(bytes), out(payload.count, DType::kF32);
  Tensor values = out.get();
  try {
    payload.codec->on_gpu()->Decode(in.get(), values);
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
  Tensor scratch({parallel::kChecksumScratch}, DType::kI32, kGpu);
  const Guarded in(bytes);
  parallel::kernels::CompareChecksum(in.get(), expected, damaged, scratch);
  return damaged.To(Device{}).Item() != 0;
}

// 65,536 threads find a checksum, which an emulated GPU takes in turn: so these are few, whatever
// number is asked for.
TEST_F(GpuDecoders, TheChecksumSeesAllDamage) {
  int64_t number = 0;
  for (const char* name : {"sortq:8", "uniform:3", "f8:e4m3", "dynamic8:100"}) {
    const Bytes good = PayloadOf(name, kCounts[0]).good;
    const uint32_t expected = Crc32c(std::as_bytes(std::span(good)));
    EXPECT_FALSE(IsSeen(good, expected)) << name;
    for (const int64_t end = number + 6; number < end; ++number) {
      const Bytes bytes = Mutator(static_cast<uint64_t>(number)).Mutate(good, good);
      EXPECT_EQ(IsSeen(bytes, expected), bytes != good) << name << ", input " << number;
    }
  }
}

}  // namespace
}  // namespace torus::fuzz
