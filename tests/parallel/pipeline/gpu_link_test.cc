// Links between ranks whose tensors lie on GPUs: what arrives has the bits that a link between CPUs
// brings. Skips where there are no two GPUs: run it with --config=emulated_gpu.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "parallel/codec/make_codec.h"
#include "parallel/pipeline/tensor_link.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/kernels.h"
#include "runtime/rng.h"
#include "tests/parallel/pipeline/moves_gpus.h"

namespace torus::parallel {
namespace {

constexpr Device kCpu{}, kGpu0{DeviceKind::kCuda, 0}, kGpu1{DeviceKind::kCuda, 1};
constexpr int kMicroBatches = 4, kRounds = 2;
constexpr int kNotFinite = 2;  // the micro-batch with an infinity

class GpuLink : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() < 2) GTEST_SKIP() << "no two GPUs, and no --config=emulated_gpu: NOT tested";
  }
};

// Without kernels for GPUs: the upper halves of the values.
class HalfCodec : public Codec {
 public:
  std::string name() const override { return "half"; }
  size_t MaxEncodedBytes(int64_t count) const override { return 2 * static_cast<size_t>(count); }
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override {
    for (size_t i = 0; i < in.size(); ++i) {
      const auto upper = static_cast<uint16_t>(std::bit_cast<uint32_t>(in[i]) >> 16);
      std::memcpy(out.data() + 2 * i, &upper, 2);
    }
    return 2 * in.size();
  }
  void Decode(std::span<const std::byte> in, std::span<float> out) override {
    for (size_t i = 0; i < out.size(); ++i) {
      uint16_t upper;
      std::memcpy(&upper, in.data() + 2 * i, 2);
      out[i] = std::bit_cast<float>(uint32_t{upper} << 16);
    }
  }
};

std::unique_ptr<Codec> CodecNamed(const std::string& name) {
  return name == "half" ? std::make_unique<HalfCodec>() : MakeCodec(name);
}

struct Way {
  Device from, to;
  std::string codec;
  bool beside = false;  // an encoder's thread
  bool direct = false;  // the transport takes the memory of GPUs
};

struct Outcome {
  std::vector<std::vector<uint8_t>> tensors;  // bytes of what arrived; none of an undefined one
  std::vector<bool> finite;                   // sender and receiver, each round
  uint64_t raw_bytes = 0, sent_bytes = 0, gpu_bytes = 0;
};

const std::vector<TensorSpec>& Specs() {
  static const std::vector<TensorSpec> specs{{{40, 61}, DType::kF32},
                                             {{40, 33}, DType::kBF16},
                                             {{40}, DType::kI64},
                                             {{40, 5}, DType::kF32}};
  return specs;
}

// The last micro-batch is smaller; some have no fourth tensor, or an empty one. On a GPU the floats
// are doubled, and nothing waits for that: who reads them too early finds what they were before.
std::vector<Tensor> Make(int micro_batch, Device device) {
  const int64_t rows = micro_batch == kMicroBatches - 1 ? 17 : 40;
  const RandomStream random({.seed = 3, .sample = static_cast<uint64_t>(micro_batch)});
  Tensor floats = Empty({rows, 61});
  FillUniform(floats, -1, 1, random);
  const Tensor low = floats.Narrow(1, 5, 33).To(DType::kBF16);
  if (micro_batch == kNotFinite)
    floats.mutable_data<float>()[100] = std::numeric_limits<float>::infinity();
  Tensor fourth;
  if (micro_batch > 0) fourth = Full({micro_batch == 1 ? 0 : rows, 5}, 0.25, DType::kF32, device);
  const Tensor there = low.To(device), numbers = Arange(rows, DType::kI64, device);
  Tensor doubled = floats.To(device);
  ScaleInPlace(doubled, 2);
  return {doubled, there, numbers, fourth};
}

std::vector<uint8_t> BytesOf(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  const Tensor here = tensor.To(kCpu);
  const auto* const bytes = static_cast<const uint8_t*>(here.raw());
  return {bytes, bytes + here.bytes()};
}

void SendAll(TensorLink& link, Device device, Outcome& out) {
  RankTotals totals;
  for (int round = 0; round < kRounds; ++round) {
    link.ResetFinite();
    for (int m = 0; m < kMicroBatches; ++m) link.Send(m, Make(m, device), "activation", totals);
    link.CheckSent(true);
    out.finite.push_back(link.finite());
    link.Flush(totals);
  }
  out.raw_bytes = link.raw_bytes();
  out.sent_bytes = link.sent_bytes();
}

// Every second one is expected before it is needed.
void RecvAll(TensorLink& link, Device device, Outcome& out) {
  RankTotals totals;
  for (int round = 0; round < kRounds; ++round) {
    link.ResetFinite();
    for (int m = 0; m < kMicroBatches; ++m) {
      for (int next = m; m % 2 == 0 && next < m + 2; ++next)
        EXPECT_TRUE(link.Expect(next, "activation"));
      link.Advance();
      for (const Tensor& tensor : link.Recv(m, "activation", totals)) {
        EXPECT_TRUE(!tensor.defined() || tensor.device() == device) << tensor.Describe();
        out.tensors.push_back(BytesOf(tensor));
      }
    }
    out.finite.push_back(link.finite());
  }
}

Outcome Exchange(const Way& way) {
  Outcome sent, arrived;
  RunRanks(2, [&](Transport& inner) {
    const bool sends = inner.rank() == 0;
    const auto codec = CodecNamed(way.codec);
    std::optional<EncoderThread> encoder;
    if (way.beside) encoder.emplace();
    MovesGpus direct(inner);
    MovesCpusAlone by_cpu(inner);
    Transport& transport = way.direct ? static_cast<Transport&>(direct) : by_cpu;
    const Device device = sends ? way.from : way.to;
    TensorLink link({.transport = &transport,
                     .peer = 1 - inner.rank(),
                     .cut = 1,
                     .codec = codec.get(),
                     .encoder = encoder ? &*encoder : nullptr,
                     .device = device},
                    Specs(), kMicroBatches);
    if (sends) {
      link.PrepareToSend();
      SendAll(link, device, sent);
      sent.gpu_bytes = direct.gpu_bytes();
    } else {
      link.PrepareToRecv();
      RecvAll(link, device, arrived);
    }
  });
  sent.tensors = arrived.tensors;
  sent.finite.insert(sent.finite.end(), arrived.finite.begin(), arrived.finite.end());
  return sent;
}

void ExpectSameTensors(const Outcome& got, const Outcome& want) {
  ASSERT_EQ(got.tensors.size(), want.tensors.size());
  for (size_t i = 0; i < want.tensors.size(); ++i)
    EXPECT_TRUE(got.tensors[i] == want.tensors[i])
        << "micro-batch " << i / Specs().size() << ", tensor " << i % Specs().size();
}

void ExpectTheCpus(const Way& way, const Outcome& want) {
  SCOPED_TRACE(fmt::format("{} to {}, {}{}{}", way.from, way.to, way.codec,
                           way.beside ? ", encodes beside" : "", way.direct ? ", direct" : ""));
  const Outcome got = Exchange(way);
  ExpectSameTensors(got, want);
  EXPECT_EQ(got.finite, want.finite);
  EXPECT_EQ(got.raw_bytes, want.raw_bytes);
  EXPECT_EQ(got.sent_bytes, want.sent_bytes);
}

TEST(Link, BringsWhatWasSentBetweenCpus) {
  const Outcome raw = Exchange({kCpu, kCpu, "none"});
  ASSERT_EQ(raw.tensors.size(), static_cast<size_t>(kRounds * kMicroBatches) * Specs().size());
  for (int m = 0; m < kMicroBatches; ++m)
    for (size_t i = 0; i < Specs().size(); ++i)
      EXPECT_TRUE(raw.tensors[static_cast<size_t>(m) * Specs().size() + i] ==
                  BytesOf(Make(m, kCpu)[i]))
          << m << ' ' << i;
  EXPECT_EQ(raw.finite, std::vector<bool>(2 * kRounds, true)) << "of codecs alone";
  EXPECT_EQ(Exchange({kCpu, kCpu, "sortq:8"}).finite, std::vector<bool>(2 * kRounds, false));
}

TEST_F(GpuLink, BringsTheBitsOfTheCpusLink) {
  for (const std::string codec :
       {"none", "half", "sortq:4", "sortq:8", "sortq:16", "uniform:5", "f8:e4m3", "dynamic8"}) {
    const Outcome want = Exchange({kCpu, kCpu, codec});
    for (const bool beside : {false, true}) {
      ExpectTheCpus({kGpu0, kGpu1, codec, beside}, want);
      ExpectTheCpus({kGpu0, kCpu, codec, beside}, want);
      ExpectTheCpus({kCpu, kGpu1, codec, beside}, want);
      ExpectTheCpus({kGpu0, kGpu1, codec, beside, true}, want);
      ExpectTheCpus({kGpu0, kCpu, codec, beside, true}, want);
    }
  }
}

// Where the transport takes a GPU's memory, nothing but what a codec without kernels makes leaves
// it.
TEST_F(GpuLink, HandsGpuMemoryToATransportThatTakesIt) {
  for (const std::string codec : {"none", "sortq:8"}) {
    const Outcome direct = Exchange({kGpu0, kGpu1, codec, false, true});
    EXPECT_EQ(direct.gpu_bytes, direct.sent_bytes) << codec;
  }
  const Outcome numbers_alone = Exchange({kGpu0, kGpu1, "half", false, true});
  EXPECT_EQ(numbers_alone.gpu_bytes, kRounds * (3 * 40 + 17) * sizeof(int64_t));
}

TEST_F(GpuLink, ARankMayWorkInAStreamOfItsOwn) {
  const Outcome want = Exchange({kCpu, kCpu, "sortq:8"});
  const Way way{kGpu0, kGpu0, "sortq:8", true};
  RunRanks(2, [&](Transport& inner) {
    MovesGpus transport(inner);
    const bool sends = transport.rank() == 0;
    const Stream stream(kGpu0);
    const WithStream in_it(stream);
    const auto codec = MakeCodec(way.codec);
    EncoderThread encoder;
    TensorLink link({.transport = &transport,
                     .peer = 1 - transport.rank(),
                     .kind = TagClass::kGradient,
                     .cut = 1,
                     .codec = codec.get(),
                     .encoder = &encoder,
                     .device = kGpu0},
                    Specs(), kMicroBatches);
    Outcome out;
    if (sends) {
      link.PrepareToSend();
      return SendAll(link, kGpu0, out);
    }
    link.PrepareToRecv();
    RecvAll(link, kGpu0, out);
    ExpectSameTensors(out, want);
  });
}

}  // namespace
}  // namespace torus::parallel
