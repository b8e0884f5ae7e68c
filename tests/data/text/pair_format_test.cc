#include "data/text/pair_format.h"

#include <gtest/gtest.h>

#include "data/text/open_tokenizer.h"
#include "tests/data/temp_file.h"
#include "tests/data/text/small_bpe.h"

namespace torus::data {
namespace {

using Ids = std::vector<int32_t>;

TEST(TruncateLongestFirst, TakesFromTheLongerOne) {
  const auto cut = [](int64_t first, int64_t second, int64_t room) {
    return TruncateLongestFirst({first, second}, room);
  };
  EXPECT_EQ(cut(3, 4, 7), (PairLengths{3, 4}));
  EXPECT_EQ(cut(3, 9, 7), (PairLengths{3, 4}));
  EXPECT_EQ(cut(9, 3, 7), (PairLengths{4, 3}));
  EXPECT_EQ(cut(9, 8, 6), (PairLengths{3, 3}));
  EXPECT_EQ(cut(8, 9, 7), (PairLengths{3, 4}));
  EXPECT_EQ(cut(9, 8, 7), (PairLengths{4, 3}));
  EXPECT_EQ(cut(8, 8, 7), (PairLengths{3, 4}));
  EXPECT_EQ(cut(0, 9, 4), (PairLengths{0, 4}));
}

TEST(PairEncoder, OfRoberta) {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});  // 258 ... 262
  const auto tokenizer = OpenRoberta(dir);
  const PairEncoder encoder(*tokenizer, 7);
  EXPECT_EQ(encoder.pad(), 259);
  EXPECT_EQ(encoder.Encode("x").tokens, (Ids{258, 'x', 260}));
  EXPECT_EQ(encoder.Encode("x", "").tokens, (Ids{258, 'x', 260, 260, 260}));
  EXPECT_EQ(encoder.Encode("xyz", "uvw").tokens, (Ids{258, 'x', 260, 260, 'u', 'v', 260}));
  EXPECT_EQ(encoder.Encode("ab <mask>123456").tokens, (Ids{258, 256, 262, '1', '2', '3', 260}));
  ExpectBadInput([&] { PairEncoder(*tokenizer, 5); }, "[roberta]", "at least 6 tokens, got 5");
}

TEST(PairEncoder, OfGpt2) {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<|endoftext|>"});  // 258
  const auto tokenizer = OpenGpt2(dir);
  const PairEncoder encoder(*tokenizer, 5);
  EXPECT_EQ(encoder.pad(), 258);
  EXPECT_EQ(encoder.Encode("xy").tokens, (Ids{'x', 'y', 258}));
  EXPECT_EQ(encoder.Encode("xyz", "ab").tokens, (Ids{'x', 'y', 258, 256, 258}));
}

}  // namespace
}  // namespace torus::data
