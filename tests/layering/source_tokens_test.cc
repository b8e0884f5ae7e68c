#include "tests/layering/source_tokens.h"

#include <gtest/gtest.h>

namespace torus::layering {
namespace {

TEST(SourceTokens, CommentsAndTextOfLiteralsAreNoCode) {
  EXPECT_EQ(CodeOf("a; // it's\nb;"), "a;        \nb;");
  EXPECT_EQ(CodeOf("a /* \"x\n' */ b"), "a      \n     b");
  EXPECT_EQ(CodeOf(R"(f("// a", 'b', "\"");)"), R"(f("    ", ' ', "  ");)");
  EXPECT_EQ(CodeOf("R\"x(a\")b)x\" + c"), "R\"" + std::string(8, ' ') + "\" + c");
  EXPECT_EQ(CodeOf(R"(BAR"(" + c)"), R"(BAR" " + c)");
}

TEST(SourceTokens, AnApostropheSeparatesDigits) {
  EXPECT_EQ(CodeOf("f(10'000, 0xff'ff, 'a', u8'b')"), "f(10'000, 0xff'ff, ' ', u8' ')");
}

TEST(SourceTokens, WhatNeverEndsLastsUntilTheEnd) {
  for (const char* text : {"\"", "'", "/*", "//", "R\"", "R\"x(", "\"\\"}) {
    const std::vector<SourceToken> tokens = TokensOf(text);
    ASSERT_EQ(tokens.size(), 1u) << text;
    EXPECT_EQ(tokens[0].end, std::string(text).size());
    EXPECT_EQ(CodeOf(text).size(), std::string(text).size());
  }
}

}  // namespace
}  // namespace torus::layering
