// What holds of every codec of the list.
#include <gtest/gtest.h>

#include <limits>

#include "parallel/codec/make_codec.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "tests/parallel/codec/exact_sort.h"
#include "tests/parallel/codec/round_trip.h"
#include "tests/testing/twins.h"

namespace torus::parallel {
namespace {

// The list's, by parts and composed.
std::vector<std::string> Names() {
  std::vector<std::string> names = CodecNames();
  for (const char* more :
       {"sortq:8/sample", "uniform:3/channel", "kmeans:2/chunk:20000", "topk:0.3+f16/sample",
        "hadamard+randk:0.5+uniform:5", "topk:0.01", "uniform:16", "uniform:1", "kmeans:8"})
    names.push_back(more);
  return names;
}

class EveryCodec : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Codec> codec_ = MakeCodec(GetParam());
};

INSTANTIATE_TEST_SUITE_P(List, EveryCodec, ::testing::ValuesIn(Names()),
                         [](const auto& info) { return CaseName(info.param); });

TEST_P(EveryCodec, HasTheNameThatMakesIt) {
  EXPECT_EQ(codec_->name(), GetParam());
  EXPECT_EQ(codec_->is_identity(), GetParam() == "none");
}

TEST_P(EveryCodec, KeepsItsBoundOfBytesAndGivesFiniteValues) {
  for (const std::string& name : Distributions())
    for (size_t count : {1u, 2u, 15u, 64u, 1000u, 5003u}) {
      SCOPED_TRACE(fmt::format("{} of {}", count, name));
      const std::vector<float> values = Draw(name, count, 3);
      const std::vector<std::byte> bytes = EncodeFlat(*codec_, values);
      if (name == "huge" && GetParam().starts_with("hadamard")) continue;  // its sums may overflow
      ASSERT_GT(bytes.size(), 0u);
      ASSERT_LE(bytes.size(), codec_->MaxEncodedBytes(static_cast<int64_t>(count)));
      for (const float value : DecodeFlat(*codec_, bytes, count)) ASSERT_TRUE(std::isfinite(value));
    }
}

TEST_P(EveryCodec, EmptyComesBackEmpty) {
  const std::vector<std::byte> bytes = EncodeFlat(*codec_, {});
  EXPECT_LE(bytes.size(), codec_->MaxEncodedBytes(0));
  EXPECT_TRUE(DecodeFlat(*codec_, bytes, 0).empty());
}

TEST_P(EveryCodec, SameBytesWhateverTheTeam) {
  const int before = TeamSize();
  for (const std::string name : {"normal", "relu", "mixed_scales"}) {
    const std::vector<float> values = Draw(name, 150001, 5);
    SetTeamSize(1);
    const std::vector<std::byte> bytes = EncodeFlat(*codec_, values);
    const std::vector<float> back = DecodeFlat(*codec_, bytes, values.size());
    for (int team : {2, 3}) {
      SetTeamSize(team);
      EXPECT_EQ(EncodeFlat(*codec_, values), bytes) << name << ", " << team << " threads";
      EXPECT_EQ(DecodeFlat(*codec_, bytes, values.size()), back) << name << ", " << team;
    }
  }
  SetTeamSize(before);
}

TEST_P(EveryCodec, SameBytesAtEveryVectorWidth) {
  for (const std::string name : {"relu6", "signed_zeros", "denormal"}) {
    const std::vector<float> values = Draw(name, 10007, 5);
    const std::vector<std::byte> bytes = EncodeFlat(*codec_, values);
    const std::vector<float> back = DecodeFlat(*codec_, bytes, values.size());
    testing::ForEachVectorWidth([&] {
      EXPECT_EQ(EncodeFlat(*codec_, values), bytes) << name;
      EXPECT_EQ(DecodeFlat(*codec_, bytes, values.size()), back) << name;
    });
  }
}

TEST_P(EveryCodec, WritesNothingForInfiniteAndNaN) {
  if (codec_->is_identity()) GTEST_SKIP() << "it carries them";
  for (float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                    std::nanf("")})
    for (size_t where : {0u, 70u, 99u}) {
      std::vector<float> values = Draw("normal", 100, 1);
      values[where] = bad;
      EXPECT_TRUE(EncodeFlat(*codec_, values).empty()) << bad << " at " << where;
    }
}

TEST_P(EveryCodec, RefusesWhatDoesNotFit) {
  const std::vector<float> values = Draw("normal", 100, 1);
  std::vector<std::byte> bytes(codec_->MaxEncodedBytes(100) - 1);
  EXPECT_THROW(codec_->Encode(values, bytes), BadInput);
  bytes = EncodeFlat(*codec_, values);
  EXPECT_THROW(DecodeFlat(*codec_, bytes, 200), BadInput);
  EXPECT_THROW(DecodeFlat(*codec_, bytes, 16), BadInput);
  EXPECT_THROW(DecodeFlat(*codec_, std::span(bytes).first(bytes.size() - 1), 100), BadInput);
  bytes.push_back(std::byte{0});
  EXPECT_THROW(DecodeFlat(*codec_, bytes, 100), BadInput);
  EXPECT_THROW(DecodeFlat(*codec_, {}, 100), BadInput);
}

// A receiver's buffer is made for the largest micro-batch.
TEST_P(EveryCodec, FewerSamplesNeedNoMoreBytes) {
  size_t before = 0;
  for (int64_t samples = 0; samples <= 40; ++samples) {
    const size_t most = codec_->MaxTensorBytes({samples, 7, 5, 3});
    EXPECT_GE(most, before) << samples << " samples";
    before = most;
  }
}

}  // namespace
}  // namespace torus::parallel
