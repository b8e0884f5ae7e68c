#include "data/text/utf8.h"

#include <gtest/gtest.h>

#include "data/text/byte_symbols.h"

namespace torus::data {
namespace {

TEST(Utf8, EveryCodePointComesBack) {
  for (char32_t value = 0; value <= 0x10FFFF; ++value) {
    if (value >= 0xD800 && value <= 0xDFFF) continue;
    std::string text;
    AppendUtf8(value, &text);
    const CodePoint point = FirstCodePoint(text);
    ASSERT_EQ(point.value, value);
    ASSERT_EQ(point.bytes, text.size());
    ASSERT_EQ(ValidUtf8Prefix(text), text.size());
    text.pop_back();
    ASSERT_EQ(FirstCodePoint(text).bytes, 0u);
  }
}

// RFC 3629, sections 3 and 10: surrogates, other than shortest forms, beyond the last.
TEST(Utf8, RefusesWhatIsNoCodePoint) {
  for (const std::string text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xc2", "\xc2\x20", "\xe2\x82", "\xe2\x82\x20"}) {
    EXPECT_EQ(FirstCodePoint(text).bytes, 0u) << testing::PrintToString(text);
    EXPECT_EQ(ValidUtf8Prefix("0123456789é" + text + "after"), 12u);
  }
  EXPECT_EQ(ValidUtf8Prefix(""), 0u);
}

TEST(ByteSymbols, AreThoseOfGpt2) {
  EXPECT_EQ(SymbolsOfBytes(" Hello\n"), "\u0120Hello\u010a");
  EXPECT_EQ(SymbolsOfBytes(std::string("\0\xad\x7f", 3)), "\u0100\u0143\u0121");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(BytesOfSymbols(SymbolsOfBytes(all)), all);
  EXPECT_EQ(BytesOfSymbols("a b"), std::nullopt);
  EXPECT_EQ(BytesOfSymbols("\u0144"), std::nullopt);
  EXPECT_EQ(BytesOfSymbols("a\xff"), std::nullopt);
}

}  // namespace
}  // namespace torus::data
