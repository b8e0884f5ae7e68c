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

// A vector, and images, which low-rank codecs see as a matrix and codecs by part as several parts.
std::vector<Shape> VectorAndImages(int64_t count) {
  return {Shape{count}, Shape{count / 120, 4, 6, 5}};
}

size_t CountOf(const Shape& shape) { return static_cast<size_t>(Numel(shape)); }

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
  const Shape shapes[] = {{1}, {2}, {15}, {64}, {1000}, {5003}, {9, 5, 3, 7}, {2, 1, 40, 64}};
  for (const std::string& name : Distributions())
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(fmt::format("{} of {}", shape, name));
      // Sums of such values may overflow.
      const bool sums = GetParam().starts_with("hadamard") || codec_->factors() != nullptr ||
                        GetParam().starts_with("svd");
      if (name == "huge" && sums) continue;
      const std::vector<float> values = Draw(name, CountOf(shape), 3);
      const std::vector<std::byte> bytes = EncodeIn(*codec_, {.shape = shape}, values);
      ASSERT_GT(bytes.size(), 0u);
      ASSERT_LE(bytes.size(), codec_->MaxTensorBytes(shape));
      for (const float value : DecodeIn(*codec_, {.shape = shape}, bytes))
        ASSERT_TRUE(std::isfinite(value));
    }
}

TEST_P(EveryCodec, EmptyComesBackEmpty) {
  const std::vector<std::byte> bytes = EncodeFlat(*codec_, {});
  EXPECT_LE(bytes.size(), codec_->MaxEncodedBytes(0));
  EXPECT_TRUE(DecodeFlat(*codec_, bytes, 0).empty());
}

TEST_P(EveryCodec, SameBytesWhateverTheTeam) {
  const int before = TeamSize();
  for (const std::string name : {"normal", "relu", "mixed_scales"})
    for (const Shape& shape : VectorAndImages(150001)) {
      SCOPED_TRACE(fmt::format("{} of {}", shape, name));
      const std::vector<float> values = Draw(name, CountOf(shape), 5);
      SetTeamSize(1);
      const std::vector<std::byte> bytes = EncodeIn(*codec_, {.shape = shape}, values);
      const std::vector<float> back = DecodeIn(*codec_, {.shape = shape}, bytes);
      for (int team : {2, 3}) {
        SetTeamSize(team);
        EXPECT_EQ(EncodeIn(*codec_, {.shape = shape}, values), bytes) << team << " threads";
        EXPECT_EQ(DecodeIn(*codec_, {.shape = shape}, bytes), back) << team << " threads";
      }
    }
  SetTeamSize(before);
}

TEST_P(EveryCodec, SameBytesAtEveryVectorWidth) {
  for (const std::string name : {"relu6", "signed_zeros", "denormal"})
    for (const Shape& shape : VectorAndImages(10007)) {
      SCOPED_TRACE(fmt::format("{} of {}", shape, name));
      const std::vector<float> values = Draw(name, CountOf(shape), 5);
      const std::vector<std::byte> bytes = EncodeIn(*codec_, {.shape = shape}, values);
      const std::vector<float> back = DecodeIn(*codec_, {.shape = shape}, bytes);
      testing::ForEachVectorWidth([&] {
        EXPECT_EQ(EncodeIn(*codec_, {.shape = shape}, values), bytes);
        EXPECT_EQ(DecodeIn(*codec_, {.shape = shape}, bytes), back);
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

TEST_P(EveryCodec, RefusesImagesThatDoNotFit) {
  const CodecContext images{.shape = {8, 4, 6, 5}}, more{.shape = {16, 4, 6, 5}};
  const std::vector<float> values = Draw("normal", CountOf(images.shape), 1);
  std::vector<std::byte> bytes(codec_->MaxTensorBytes(images.shape) - 1);
  EXPECT_THROW(codec_->EncodeTensor(images, values, bytes), BadInput);
  bytes = EncodeIn(*codec_, images, values);
  EXPECT_THROW(DecodeIn(*codec_, more, bytes), BadInput);
  EXPECT_THROW(DecodeIn(*codec_, images, std::span(bytes).first(bytes.size() - 1)), BadInput);
  bytes.push_back(std::byte{0});
  EXPECT_THROW(DecodeIn(*codec_, images, bytes), BadInput);
  EXPECT_THROW(DecodeIn(*codec_, images, {}), BadInput);
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
