// What an encoded payload loses on the way is noticed where it arrives.
#include <gtest/gtest.h>

#include <deque>

#include "parallel/codec/make_codec.h"
#include "parallel/pipeline/tensor_link.h"
#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus::parallel {
namespace {

// Turns one bit of each tensor's message, where it has that many.
class Damaging : public DecoratedTransport {
 public:
  Damaging(Transport& inner, int64_t bit) : DecoratedTransport(inner), bit_(bit) {}

  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    if (tag.kind != TagClass::kActivation || bit_ < 0)
      return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
    const auto* const bytes = static_cast<const std::byte*>(buffer.data);
    std::vector<std::byte>& copy = copies_.emplace_back(bytes, bytes + buffer.bytes);
    copy[static_cast<size_t>(bit_ / 8) % copy.size()] ^= std::byte{1} << (bit_ % 8);
    return DecoratedTransport::Send(peer, tag, {copy.data(), copy.size()}, std::move(what));
  }

 private:
  const int64_t bit_;
  std::deque<std::vector<std::byte>> copies_;
};

std::string ErrorOf(const std::string& codec_name, int64_t bit) try {
  RunRanks(2, [&](Transport& inner) {
    Damaging transport(inner, bit);
    const auto codec = MakeCodec(codec_name);
    TensorLink link({&transport, 1 - inner.rank(), TagClass::kActivation, 1, codec.get()},
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
    }
  });
  return "";
} catch (const BadInput& error) {
  return error.what();
}

TEST(LinkChecksum, WholePayloadsPass) {
  for (const char* codec : {"sortq:8", "topk:0.3", "uniform:4/channel"})
    EXPECT_EQ(ErrorOf(codec, -1), "") << codec;
}

TEST(LinkChecksum, EveryTurnedBitIsNoticed) {
  for (const char* codec : {"sortq:8", "topk:0.3", "uniform:4/channel"})
    for (int64_t bit = 0; bit < 700; bit += 61)
      EXPECT_NE(ErrorOf(codec, bit).find("was sent with the checksum"), std::string::npos)
          << codec << ", bit " << bit;
}

}  // namespace
}  // namespace torus::parallel
