#include <gtest/gtest.h>

#include "data/text/byte_tokenizer.h"
#include "data/text/char_tokenizer.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

using Ids = std::vector<int32_t>;

TEST(ByteTokenizer, ATokenAByte) {
  const ByteTokenizer bytes;
  const std::string text("a\0\xff", 3);
  EXPECT_EQ(bytes.Encode(text), (Ids{97, 0, 255}));
  EXPECT_EQ(bytes.Decode(Ids{97, 0, 255}), text);
  ExpectBadInput([&] { bytes.Decode(Ids{256}); }, "[bytes]", "0 to 255, got 256");
  ExpectBadInput([&] { bytes.Decode(Ids{-1}); }, "[bytes]", "got -1");
}

TEST(CharTokenizer, NumbersCharactersInOrder) {
  const CharTokenizer chars = CharTokenizer::Of("bé a\nb", "x.txt");
  EXPECT_EQ(chars.alphabet(), "\n abé");
  EXPECT_EQ(chars.vocabulary(), 5);
  EXPECT_EQ(chars.Encode("éa b\n"), (Ids{4, 2, 1, 3, 0}));
  EXPECT_EQ(chars.Decode(Ids{4, 2, 1, 3, 0}), "éa b\n");
  EXPECT_EQ(CharTokenizer(chars.alphabet()).Encode("é"), (Ids{4}));
}

TEST(CharTokenizer, NamesWhatItDoesNotKnow) {
  const CharTokenizer chars("ab");
  ExpectBadInput([&] { chars.Encode("abc"); }, "[chars]", "got 'c' (U+0063) at offset 2");
  ExpectBadInput([&] { chars.Encode("a\xff"); }, "[chars]", "0xff at offset 1");
  ExpectBadInput([&] { chars.Decode(Ids{2}); }, "[chars]", "0 to 1, got 2");
  ExpectBadInput([&] { CharTokenizer("ba"); }, "[chars]", "U+0061 after U+0062 at offset 1");
  ExpectBadInput([&] { CharTokenizer("aa"); }, "[chars]", "ascending");
  ExpectBadInput([&] { CharTokenizer(""); }, "[chars]", "at least one");
  ExpectBadInput([&] { CharTokenizer::Of("", "x.txt"); }, "[x.txt]", "an empty text");
  ExpectBadInput([&] { CharTokenizer::Of("ab\xed\xa0\x80", "x.txt"); }, "[x.txt]",
                 "0xed at offset 2");
}

}  // namespace
}  // namespace torus::data
