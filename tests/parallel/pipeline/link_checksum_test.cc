// What an encoded payload loses on the way is noticed where it arrives.
#include <gtest/gtest.h>

#include <deque>

#include "parallel/codec/make_codec.h"
#include "parallel/pipeline/tensor_link.h"
#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/rng.h"
#include "runtime/stream.h"

namespace torus::parallel {
namespace {

// Turns one bit of each message of a kind, a tensor's or its header's, where it has that many.
class Damaging : public DecoratedTransport {
 public:
  Damaging(Transport& inner, int64_t bit, TagClass kind)
      : DecoratedTransport(inner), bit_(bit), kind_(kind) {}

  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    if (tag.kind != kind_ || bit_ < 0)
      return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
    if (buffer.device != Device{}) return SendFromGpu(peer, tag, buffer, std::move(what));
    const auto* const bytes = static_cast<const std::byte*>(buffer.data);
    std::vector<std::byte>& copy = copies_.emplace_back(bytes, bytes + buffer.bytes);
    copy[static_cast<size_t>(bit_ / 8) % copy.size()] ^= std::byte{1} << (bit_ % 8);
    return DecoratedTransport::Send(peer, tag, {copy.data(), copy.size()}, std::move(what));
  }

 private:
  Pending SendFromGpu(int peer, Tag tag, const ConstBuffer& buffer, std::string what) {
    Tensor here({static_cast<int64_t>(buffer.bytes)}, DType::kU8);
    CopyMemory(buffer.data, buffer.device, here.mutable_raw(), Device{}, buffer.bytes);
    here.mutable_data<uint8_t>()[static_cast<size_t>(bit_ / 8) % buffer.bytes] ^=
        static_cast<uint8_t>(1 << (bit_ % 8));
    const Tensor& there = there_.emplace_back(here.To(buffer.device));
    return DecoratedTransport::Send(
        peer, tag, {there.raw(), buffer.bytes, buffer.device, CurrentStream(buffer.device)},
        std::move(what));
  }

  const int64_t bit_;
  const TagClass kind_;
  std::deque<std::vector<std::byte>> copies_;
  std::deque<Tensor> there_;
};

// Sends headers of another version.
class OtherVersion : public DecoratedTransport {
 public:
  using DecoratedTransport::DecoratedTransport;

  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    if (tag.kind != TagClass::kControl)
      return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
    header_ = *static_cast<const TensorHeader*>(buffer.data);
    header_.version = 9;
    Seal(header_);
    return DecoratedTransport::Send(peer, tag, {&header_, sizeof header_}, std::move(what));
  }

 private:
  TensorHeader header_;
};

struct Case {
  std::string codec;
  int64_t bit = -1;  // to be turned; -1: none
  bool on_gpus = false;
  TagClass kind = TagClass::kActivation;
  std::string receiver = "";  // the receiver's codec, if it is another
  bool other_version = false;
};

std::string ErrorOf(const Case& c) try {
  RunRanks(2, [&](Transport& inner) {
    Damaging damaging(inner, c.bit, c.kind);
    OtherVersion other_version(inner);
    Transport& transport = c.other_version ? static_cast<Transport&>(other_version) : damaging;
    const bool other = inner.rank() == 1 && !c.receiver.empty();
    const auto codec = MakeCodec(other ? c.receiver : c.codec);
    const Device device = c.on_gpus ? Device{DeviceKind::kCuda, inner.rank()} : Device{};
    TensorLink link({.transport = &transport,
                     .peer = 1 - inner.rank(),
                     .cut = 1,
                     .codec = codec.get(),
                     .device = device},
                    {{Shape{8, 9}, DType::kF32}}, 1);
    RankTotals totals;
    if (inner.rank() == 0) {
      Tensor values(Shape{8, 9}, DType::kF32);
      FillNormal(values, 0, 1, RandomStream({.seed = 2}));
      link.PrepareToSend();
      link.Send(0, {values}, "activation", totals);
      link.Flush(totals);
    } else {
      link.PrepareToRecv();
      EXPECT_EQ(link.Recv(0, "activation", totals)[0].shape(), (Shape{8, 9}));
      link.CheckArrived();
    }
  });
  return "";
} catch (const BadInput& error) {
  return error.what();
}

TEST(LinkChecksum, WholePayloadsPass) {
  for (const char* codec : {"sortq:8", "topk:0.3", "uniform:4/channel"})
    EXPECT_EQ(ErrorOf({codec}), "") << codec;
}

// On a GPU the rank goes on, and learns of it at the end of the step.
TEST(LinkChecksum, TurnedBitsAreNoticedInTheMemoryOfGpus) {
  if (GpuCount() < 2) GTEST_SKIP() << "no two GPUs, and no --config=emulated_gpu: NOT tested";
  for (const char* codec : {"sortq:8", "uniform:5", "dynamic8"}) {
    EXPECT_EQ(ErrorOf({codec, -1, true}), "") << codec;
    for (int64_t bit = 0; bit < 400; bit += 61)
      EXPECT_NE(ErrorOf({codec, bit, true}).find("has not the checksum of what was sent"),
                std::string::npos)
          << codec << ", bit " << bit;
  }
}

TEST(LinkChecksum, EveryTurnedBitIsNoticed) {
  for (const char* codec : {"sortq:8", "topk:0.3", "uniform:4/channel"})
    for (int64_t bit = 0; bit < 700; bit += 61)
      EXPECT_NE(ErrorOf({codec, bit}).find("was sent with the checksum"), std::string::npos)
          << codec << ", bit " << bit;
}

TEST(LinkChecksum, EveryTurnedBitOfAHeaderIsNoticed) {
  for (const char* codec : {"none", "sortq:8"})
    for (int64_t bit = 0; bit < int64_t{8 * sizeof(TensorHeader)}; bit += 7)
      EXPECT_NE(ErrorOf({codec, bit, false, TagClass::kControl})
                    .find("tensor 0: its header was sent with"),
                std::string::npos)
          << codec << ", bit " << bit;
}

TEST(LinkChecksum, AnotherVersionIsNotRead) {
  const std::string error = ErrorOf({.codec = "sortq:8", .other_version = true});
  EXPECT_NE(error.find("its header has version 9, this program reads version 1"), std::string::npos)
      << error;
}

TEST(LinkChecksum, AnotherCodecIsNotDecoded) {
  const std::string error = ErrorOf({.codec = "sortq:8", .receiver = "sortq:Q5S3"});
  EXPECT_NE(error.find("(sortq:Q5S3), the sender encoded by"), std::string::npos) << error;
  EXPECT_EQ(ErrorOf({.codec = "sortq:8", .receiver = "sortq:Q6S2"}), "") << "the same codec";
}

}  // namespace
}  // namespace torus::parallel
