#include "tests/layering/line_rules.h"

#include <gtest/gtest.h>

namespace torus::layering {
namespace {

using Violations = std::vector<std::string>;

const std::string kHundred = "// " + std::string(97, 'x');

TEST(LineRules, AHundredColumnsAreAllowed) {
  EXPECT_EQ(CheckLines("a.h", kHundred), Violations());
  EXPECT_EQ(CheckLines("a.h", "\n" + kHundred + "x\n" + kHundred + "\n" + kHundred + "xy"),
            (Violations{"a.h:2: has 101 columns, at most 100 are allowed",
                        "a.h:4: has 102 columns, at most 100 are allowed"}));
}

TEST(LineRules, CharactersCountAndNotBytes) {
  EXPECT_EQ(CheckLines("a.h", kHundred.substr(1) + "\u00e4"), Violations());
  EXPECT_EQ(CheckLines("a.h", kHundred + "\u00e4").size(), 1u);
}

TEST(LineRules, WhatCannotBeBrokenIsLetOff) {
  for (const std::string& line :
       {"#include \"" + kHundred + "\"", "// https://" + kHundred, "f(R\"(" + kHundred + ")\");"})
    EXPECT_EQ(CheckLines("a.h", line), Violations()) << line;
  EXPECT_EQ(CheckLines("a.h", "f(R\"(\n" + kHundred + "x\n)\");\n" + kHundred + "x").size(), 1u);
}

}  // namespace
}  // namespace torus::layering
