#include "data/text/merges.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "data/text/apply_merges.h"
#include "data/text/byte_symbols.h"
#include "data/text/train_bpe.h"
#include "runtime/rng.h"
#include "tests/data/temp_file.h"
#include "tests/testing/address_space_limit.h"

namespace torus::data {
namespace {

using Symbols = std::vector<Symbol>;

Symbols Applied(const Merges& merges, std::string_view piece) {
  Symbols symbols;
  merges.Apply(piece, &symbols);
  return symbols;
}

TEST(Merges, LowerRanksMergeFirst) {
  // 256 "bc", 257 "ab", 258 "abc"
  const Merges merges("#version: 0.2\nb c\na b\na bc\n", "m");
  EXPECT_EQ(merges.symbols(), 259u);
  EXPECT_EQ(merges.BytesOf(258), "abc");
  EXPECT_EQ(Applied(merges, "abc"), (Symbols{258}));
  EXPECT_EQ(Applied(merges, "abab"), (Symbols{257, 257}));
  EXPECT_EQ(Applied(merges, "xbcb"), (Symbols{'x', 256, 'b'}));
  EXPECT_EQ(Applied(merges, ""), Symbols{});
  EXPECT_EQ(merges.Find('a', 'c'), kNoRank);
}

TEST(Merges, TheLeftmostOfEqualRanksMergesFirst) {
  const Merges merges("a a\naa aa\n", "m");
  EXPECT_EQ(Applied(merges, "aaa"), (Symbols{256, 'a'}));
  EXPECT_EQ(Applied(merges, "aaaaa"), (Symbols{257, 'a'}));
}

// As files have them that were made of a vocabulary: a line for each way to cut a token in two, and
// a string before the line that makes it.
TEST(Merges, SeveralMayMakeTheSame) {
  // 256 "bc", 257 "abc", 258 "ab"
  const Merges merges("a bc\nab c\na b\nb c\n", "m");
  EXPECT_EQ(merges.symbols(), 259u);
  EXPECT_EQ(Applied(merges, "abc"), (Symbols{257}));
  EXPECT_EQ(Applied(merges, "xbc"), (Symbols{'x', 256}));
  EXPECT_EQ(merges.ResultOf(merges.Find('a', 256)), 257u);
  EXPECT_EQ(merges.ResultOf(merges.Find(258, 'c')), 257u);
}

// The textbook's way: all pairs of the lowest rank at once, again and again.
Symbols Plainly(const Merges& merges, std::string_view piece) {
  Symbols s(piece.begin(), piece.end());
  for (;;) {
    Rank lowest = kNoRank;
    for (size_t i = 0; i + 1 < s.size(); ++i)
      lowest = std::min(lowest, merges.Find(s[i], s[i + 1]));
    if (lowest == kNoRank) return s;
    Symbols next;
    for (size_t i = 0; i < s.size(); ++i) {
      const bool merge = i + 1 < s.size() && merges.Find(s[i], s[i + 1]) == lowest;
      next.push_back(merge ? merges.ResultOf(lowest) : s[i]);
      if (merge) ++i;
    }
    s = next;
  }
}

// Words, long pieces and those about where the method changes.
TEST(Merges, BothMethodsGiveTheTextbooksSymbols) {
  const Merges merges(
      "a b\nb a\na a\nab ab\nba b\naa ba\nabab aa\nb b\nbb ba\nbbba a\na ab\nbb b\nb bb\naba b\n",
      "m");
  const RandomStream random({.seed = 3});
  uint64_t draw = 0;
  for (const size_t length : {1, 2, 3, 5, 8, 13, 31, 63, 64, 65, 66, 100, 257, 1000}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::string piece;
      while (piece.size() < length) piece.push_back("aaabbc"[random.Below(draw++, 6)]);
      ASSERT_EQ(Applied(merges, piece), Plainly(merges, piece)) << piece;
    }
  }
}

TEST(Merges, RefusesWhatIsNoMergesFile) {
  const auto expect = [](const std::string& text, const std::string& words) {
    ExpectBadInput([&] { Merges(text, "m.txt"); }, "[m.txt]", words);
  };
  expect("", "1 to 16777216 merges, got 0");
  expect("#version: 0.2\n", "got 0");
  expect("a b\nab\n", "line 2: requires two strings");
  expect("a b\n a\n", "line 2: requires two strings");
  expect("#version\na b c\n", "line 2: requires two strings");
  expect("a b\n\nb c\n", "line 2: requires two strings");
  expect("a b\nb c\na b\n", "line 3: requires each merge once, got 'a b' again");
  expect("a \xff\n", "line 1: requires two strings");
}

// tests/golden/make_bpe_training.py: those of Hugging Face's tokenizers.
TEST(TrainMerges, GivesTheMergesOfTheReference) {
  std::ifstream file("tests/golden/bpe_training.json");
  const nlohmann::json golden = nlohmann::json::parse(file);
  PieceCounts pieces;
  pieces.Add(golden["text"].get<std::string>());
  std::vector<std::string> merges;
  for (const auto& [left, right] : TrainMerges(pieces, 10'000))
    merges.push_back(SymbolsOfBytes(left) + " " + SymbolsOfBytes(right));
  EXPECT_EQ(merges, golden["merges"].get<std::vector<std::string>>());
  EXPECT_GT(merges.size(), 150u);
  const std::vector<TrainedMerge> some = TrainMerges(pieces, 20);
  EXPECT_EQ(some.size(), 20u);
  EXPECT_EQ(SymbolsOfBytes(some[1].first + some[1].second), "\u0120w");
}

#ifndef TORUS_SANITIZER
// A long piece takes room for its pairs, not for those of each merge again: that would be 870 MiB.
TEST(TrainMerges, NeedsLittleMemoryForALongPiece) {
  const RandomStream stream({.seed = 5});
  std::string letters(60'000, 'a');
  for (size_t i = 0; i < letters.size(); ++i)
    letters[i] = static_cast<char>('a' + stream.Word(i) % 26);
  PieceCounts pieces;
  pieces.Add(letters);
  ASSERT_EQ(pieces.counts().size(), 1u);
  const torus::testing::AddressSpaceLimit limit(size_t{150} << 20);
  std::vector<TrainedMerge> merges;
  EXPECT_NO_THROW(merges = TrainMerges(pieces, 3'000));
  EXPECT_EQ(merges.size(), 3'000u);
}
#endif

// Merges of equal neighbours, whose pairs overlap, leave counts that are right: ties and the order
// of what follows would show it.
TEST(TrainMerges, CountsPairsThatOverlap) {
  PieceCounts pieces;
  for (const char* text : {"aaaaa", "aaaa", "aaab", "baaa"}) pieces.Add(text);
  const std::vector<TrainedMerge> merges = TrainMerges(pieces, 10);
  // aa aa a, aa aa, aa a b, b aa a: then "aa a" occurs three times, "aa aa" twice.
  ASSERT_GE(merges.size(), 2u);
  EXPECT_EQ(merges[0], TrainedMerge("a", "a"));
  EXPECT_EQ(merges[1], TrainedMerge("aa", "a"));
  // aa aaa, aa aa, aaa b, b aaa: nothing occurs twice.
  EXPECT_EQ(merges.size(), 2u);
}

TEST(TrainMerges, TakesAnyBytes) {
  PieceCounts pieces;
  pieces.Add("\xff\xfe\xff\xfe ab\xff\xfe");
  const std::vector<TrainedMerge> merges = TrainMerges(pieces, 10);
  ASSERT_EQ(merges.size(), 1u);
  EXPECT_EQ(merges[0], TrainedMerge("\xff", "\xfe"));
  EXPECT_TRUE(TrainMerges(PieceCounts(), 10).empty());
}

}  // namespace
}  // namespace torus::data
