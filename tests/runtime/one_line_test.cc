#include "runtime/one_line.h"

#include <gtest/gtest.h>

namespace torus {
namespace {

TEST(OneLine, WritesControlCharactersOut) {
  EXPECT_EQ(OneLine("a\nb\tc\r\x1b[2J\x7f"), "a\\nb\\tc\\x0d\\x1b[2J\\x7f");
}

TEST(OneLine, LeavesAllElse) {
  const std::string text = "[/daten/Übung 1] got '\\n'";
  EXPECT_EQ(OneLine(text), text);
}

}  // namespace
}  // namespace torus
