#include "parallel/data_parallel/coded_sum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parallel/codec/make_codec.h"
#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus::parallel {
namespace {

constexpr int64_t kRows = 12, kColumns = 10;

// Of a replica: two parts, and three values behind.
std::vector<float> Drawn(int rank) {
  const RandomStream stream({.seed = 7, .sample = static_cast<uint64_t>(rank)});
  std::vector<float> values;
  for (uint64_t i = 0; i < kRows * kColumns + 30; ++i)
    values.push_back(static_cast<float>(stream.Normal(i)));
  values.insert(values.end(), {1, static_cast<float>(rank % 2), 0});
  return values;
}

std::vector<std::vector<float>> SumOver(int ranks, const std::string& name, bool advance,
                                        bool broken = false) {
  std::vector<std::vector<float>> all(ranks);
  RunRanks(ranks, [&](Transport& transport) {
    std::vector<float>& own = all[transport.rank()] = Drawn(transport.rank());
    if (broken && transport.rank() == 1) own[5] = std::nanf("");
    const auto codec = MakeCodec(name);
    const std::span<float> values(own);
    const std::vector<CodedPart> parts{{values.first(kRows * kColumns), {kRows, kColumns}},
                                       {values.subspan(kRows * kColumns, 30), {30}}};
    Communicator replicas(transport);
    const auto sum = StartCodedSum(replicas, *codec, parts, values.last(3), {}, "a sum", 2);
    while (advance && !sum->Advance()) continue;
    sum->Finish();
  });
  return all;
}

TEST(CodedSum, WithoutLossIsTheSumInTheOrderOfRanks) {
  for (int ranks : {2, 3, 5})
    for (bool advance : {false, true}) {
      std::vector<float> want = Drawn(0);
      for (int r = 1; r < ranks; ++r)
        for (size_t i = 0; i < want.size(); ++i) want[i] += Drawn(r)[i];
      for (const auto& got : SumOver(ranks, "none", advance)) EXPECT_EQ(got, want);
    }
}

TEST(CodedSum, AllReplicasEndWithEqualBits) {
  for (const char* name : {"topk:0.2", "uniform:4:stochastic", "powersgd:2", "kmeans:3/chunk:7"}) {
    const auto all = SumOver(4, name, true);
    for (int r = 1; r < 4; ++r) EXPECT_EQ(all[r], all[0]) << name;
    EXPECT_EQ(std::vector<float>(all[0].end() - 3, all[0].end()), (std::vector<float>{4, 2, 0}));
  }
}

// Each replica's part comes within half a step of its own range, which is at most eight wide.
TEST(CodedSum, IsAsFarFromTheSumAsTheCodecIs) {
  const auto exact = SumOver(4, "none", false), coded = SumOver(4, "uniform:8", false);
  for (size_t i = 0; i < exact[0].size(); ++i)
    EXPECT_NEAR(coded[0][i], exact[0][i], 4 * 8.0 / 255 / 2);
}

TEST(CodedSum, WhatIsNotFiniteBecomesNaNOnAll) {
  for (const auto& got : SumOver(3, "sortq:8", true, true)) {
    EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[kRows * kColumns - 1]));
    EXPECT_FALSE(std::isnan(got[kRows * kColumns])) << "the other part";
  }
}

// Turns a bit of what rank 1 sends.
class Damaging : public DecoratedTransport {
 public:
  Damaging(Transport& inner, size_t bit) : DecoratedTransport(inner), bit_(bit) {}

  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    if (rank() != 1) return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
    const auto* const bytes = static_cast<const std::byte*>(buffer.data);
    copy_.assign(bytes, bytes + buffer.bytes);
    copy_[bit_ / 8] ^= std::byte{1} << (bit_ % 8);
    return DecoratedTransport::Send(peer, tag, {copy_.data(), copy_.size()}, std::move(what));
  }

 private:
  const size_t bit_;
  std::vector<std::byte> copy_;
};

// What the first of two ranks to fail says of their sum.
std::string ErrorOf(const std::string& codec_name, const std::string& of_rank_1, size_t bit) {
  std::string said;
  try {
    RunRanks(2, [&](Transport& inner) {
      Damaging damaging(inner, bit);
      Transport& transport = bit > 0 ? damaging : inner;
      std::vector<float> values = Drawn(inner.rank());
      const auto codec = MakeCodec(inner.rank() == 1 ? of_rank_1 : codec_name);
      const std::vector<CodedPart> parts{{std::span(values).first(120), {120}}};
      Communicator replicas(transport);
      StartCodedSum(replicas, *codec, parts, {}, {}, "a sum", 0)->Finish();
    });
  } catch (const BadInput& error) {
    said = error.what();
  }
  return said;
}

// The header has 16 bytes, and the codec writes at least 60 behind it.
TEST(CodedSum, DamagedBytesAreRefused) {
  for (const char* name : {"uniform:4", "topk:0.5", "none"})
    for (size_t bit = 7; bit < 8 * (16 + 60); bit += 29) {
      const std::string said = ErrorOf(name, name, bit);
      EXPECT_NE(said.find("part 0 of replica 1"), std::string::npos) << name << bit << said;
    }
}

TEST(CodedSum, AnotherCodecIsRefused) {
  const std::string said = ErrorOf("uniform:4", "uniform:4:stochastic", 0);
  EXPECT_NE(said.find("encoded by"), std::string::npos) << said;
}

}  // namespace
}  // namespace torus::parallel
