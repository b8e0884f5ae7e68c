#include "data/text/masking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "data/loading/stacked_batch.h"
#include "data/text/byte_tokenizer.h"
#include "data/text/open_tokenizer.h"
#include "data/text/windows.h"
#include "tests/data/temp_file.h"
#include "tests/data/text/small_bpe.h"

namespace torus::data {
namespace {

using Ids = std::vector<int64_t>;

constexpr int64_t kBegin = 258, kUnknown = 261, kEnd = 260, kMask = 262, kOrdinary = 258;

TokenMasker SmallMasker() {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  return TokenMasker(*OpenRoberta(dir));
}

struct Row {
  Ids shown, target;
};

Row Masked(const TokenMasker& masker, const Ids& text, uint64_t sample) {
  Row row{Ids(text.size() + 2), Ids(text.size() + 2)};
  masker.Mask(text, {.seed = 3, .sample = sample}, row.shown.data(), row.target.data());
  return row;
}

Ids TextOf(int64_t length) {
  Ids text(length);
  for (int64_t i = 0; i < length; ++i) text[i] = 7 * i % kOrdinary;
  return text;
}

TEST(TokenMasker, CountsItsTargets) {
  EXPECT_EQ(TokenMasker::TargetsOf(1), 1);
  EXPECT_EQ(TokenMasker::TargetsOf(9), 1);
  EXPECT_EQ(TokenMasker::TargetsOf(10), 2);
  EXPECT_EQ(TokenMasker::TargetsOf(510), 77);
}

TEST(TokenMasker, AsksForTheTextsOwnTokens) {
  const TokenMasker masker = SmallMasker();
  const Ids text = TextOf(100);
  for (uint64_t sample = 0; sample < 50; ++sample) {
    const Row row = Masked(masker, text, sample);
    EXPECT_EQ(row.shown.front(), kBegin);
    EXPECT_EQ(row.shown.back(), kEnd);
    EXPECT_EQ(row.target.front(), TokenMasker::kNoTarget);
    EXPECT_EQ(row.target.back(), TokenMasker::kNoTarget);
    int64_t targets = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const bool asked = row.target[i + 1] != TokenMasker::kNoTarget;
      targets += asked;
      EXPECT_EQ(asked ? row.target[i + 1] : row.shown[i + 1], text[i]);
    }
    EXPECT_EQ(targets, 15);
  }
}

// Five standard deviations of the binomial distribution: one share in 10^6 lies beyond.
void ExpectShare(int64_t count, int64_t of, double share) {
  const auto n = static_cast<double>(of);
  EXPECT_NEAR(static_cast<double>(count), share * n, 5 * std::sqrt(n * share * (1 - share)));
}

struct Counts {
  int64_t targets = 0, masked = 0, random = 0, kept = 0;
  std::map<int64_t, int64_t> at, drawn;  // targets of a place, random tokens
};

Counts CountOver(const TokenMasker& masker, const Ids& text, uint64_t rows) {
  Counts counts;
  for (uint64_t sample = 0; sample < rows; ++sample) {
    const Row row = Masked(masker, text, sample);
    for (size_t i = 0; i < row.shown.size(); ++i) {
      if (row.target[i] == TokenMasker::kNoTarget) continue;
      ++counts.targets, ++counts.at[static_cast<int64_t>(i)];
      const bool masked = row.shown[i] == kMask, kept = row.shown[i] == row.target[i];
      counts.masked += masked, counts.kept += kept, counts.random += !masked && !kept;
      if (!masked && !kept) ++counts.drawn[row.shown[i]];
    }
  }
  return counts;
}

TEST(TokenMasker, SharesAreThoseOfThePaper) {
  constexpr int64_t kRows = 4000, kLength = 40;  // six targets each
  const Counts counts = CountOver(SmallMasker(), TextOf(kLength), kRows);
  EXPECT_EQ(counts.targets, 6 * kRows);
  ExpectShare(counts.masked, counts.targets, 0.8);
  // A random token may be the text's own.
  const double same = 0.1 / kOrdinary;
  ExpectShare(counts.random, counts.targets, 0.1 - same);
  ExpectShare(counts.kept, counts.targets, 0.1 + same);
  EXPECT_EQ(counts.at.size(), static_cast<size_t>(kLength));
  for (const auto& [place, count] : counts.at) ExpectShare(count, kRows, 6.0 / kLength);
}

TEST(TokenMasker, DrawsEveryTokenButSpecialOnes) {
  const Counts counts = CountOver(SmallMasker(), Ids(40, 5), 20000);
  std::set<int64_t> drawn;
  for (const auto& [token, count] : counts.drawn) {
    drawn.insert(token);
    ExpectShare(count, counts.targets, 0.1 / kOrdinary);
  }
  std::set<int64_t> ordinary;
  for (int64_t token = 0; token < kOrdinary; ++token) ordinary.insert(token);
  ordinary.erase(5);  // drawn it would count as kept
  EXPECT_EQ(drawn, ordinary);
}

// Special tokens in the middle of the numbers, as the published vocabulary has them at both ends.
TEST(TokenMasker, DrawsOfBothSidesOfSpecialTokens) {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<s>", "<pad>", "</s>", "<unk>", "<mask>", "x1", "x2"});
  const TokenMasker masker(*OpenRoberta(dir));
  std::set<int64_t> drawn;
  for (const auto& [token, count] : CountOver(masker, Ids(40, 5), 20000).drawn) drawn.insert(token);
  EXPECT_TRUE(drawn.contains(257) && drawn.contains(263) && drawn.contains(264));
  EXPECT_EQ(drawn.size(), 265u - 5 - 1);
}

TEST(TokenMasker, LeavesSpecialTokensOfTheTextAlone) {
  const TokenMasker masker = SmallMasker();
  Ids text = TextOf(30);
  for (size_t i = 0; i < text.size(); i += 2) text[i] = i % 4 == 0 ? kEnd : kUnknown;
  for (uint64_t sample = 0; sample < 100; ++sample) {
    const Row row = Masked(masker, text, sample);
    for (size_t i = 0; i < text.size(); i += 2) {
      EXPECT_EQ(row.shown[i + 1], text[i]);
      EXPECT_EQ(row.target[i + 1], TokenMasker::kNoTarget);
    }
  }
  EXPECT_EQ(Masked(masker, Ids(3, kEnd), 0).target, Ids(5, TokenMasker::kNoTarget));
}

TEST(TokenMasker, NeedsTheSpecialTokens) {
  ExpectBadInput([] { TokenMasker{ByteTokenizer()}; }, "[bytes]", "no special token '<mask>'");
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<|endoftext|>"});
  ExpectBadInput([&] { TokenMasker{*OpenGpt2(dir)}; }, "[gpt2]", "no special token '<s>'");
}

// A text of the numbers 0, 1, ... in windows of ten.
class MaskedBatchesTest : public ::testing::Test {
 protected:
  MakeBatch Make(const MaskDraws& draws) const {
    return MaskedBatches(StackedBatches(windows_), SmallMasker(), draws);
  }

  static Ids Numbers(const Tensor& tensor) { return ToVector<int64_t>(tensor); }

  const TokenVector tokens_{"text", 263, [] {
                              std::vector<int32_t> ids(251);
                              std::iota(ids.begin(), ids.end(), 0);
                              return ids;
                            }()};
  const DisjointWindows windows_{tokens_, 10};
};

TEST_F(MaskedBatchesTest, MaskTheWindows) {
  const Batch batch = Make({})({.indices = {4, 2}, .samples = {8, 9}});
  EXPECT_EQ(batch.samples, (Ids{8, 9}));
  ASSERT_EQ(batch.inputs.size(), 1u);
  EXPECT_EQ(batch.inputs[0].shape(), (Shape{2, 12}));
  EXPECT_EQ(batch.target.shape(), (Shape{2, 12}));
  const Ids shown = Numbers(batch.inputs[0]), target = Numbers(batch.target);
  for (int64_t i = 0; i < 24; ++i) {
    const int64_t row = i / 12, place = i % 12;
    if (place == 0 || place == 11) continue;
    const int64_t token = (row == 0 ? 40 : 20) + place - 1;
    EXPECT_EQ(target[i] == TokenMasker::kNoTarget ? shown[i] : target[i], token);
  }
  EXPECT_EQ(Make({})({}).inputs[0].shape(), (Shape{0, 12}));
}

// By seed, epoch and index alone, whatever stands beside it.
TEST_F(MaskedBatchesTest, DependOnNothingElse) {
  const MakeBatch make = Make({.seed = 5, .each_epoch = true});
  Ids all(25);
  std::iota(all.begin(), all.end(), 0);
  const Batch whole = make({.epoch = 3, .indices = all, .samples = all});
  for (const int64_t i : all) {
    const Batch one = make({.epoch = 3, .indices = {i}, .samples = {0}});
    EXPECT_EQ(Numbers(one.inputs[0].Select(0, 0)), Numbers(whole.inputs[0].Select(0, i)));
    EXPECT_EQ(Numbers(one.target.Select(0, 0)), Numbers(whole.target.Select(0, i)));
  }
}

TEST_F(MaskedBatchesTest, AreOthersInEachEpochOnlyWhereAsked) {
  Ids all(25);
  std::iota(all.begin(), all.end(), 0);
  const auto targets = [&](const MaskDraws& draws, int64_t epoch) {
    return Numbers(Make(draws)({.epoch = epoch, .indices = all, .samples = all}).target);
  };
  EXPECT_EQ(targets({}, 0), targets({}, 1));
  EXPECT_NE(targets({.each_epoch = true}, 0), targets({.each_epoch = true}, 1));
  EXPECT_NE(targets({.seed = 1}, 0), targets({.seed = 2}, 0));
}

}  // namespace
}  // namespace torus::data
