#include "tests/layering/message_rules.h"

#include <gtest/gtest.h>

namespace torus::layering {
namespace {

using Violations = std::vector<std::string>;

TEST(MessageRules, WhatIsHandedOverItselfIsFine) {
  for (const char* text : {
           R"(Require(x.rank() == 2, "op", "needs (N, C), got {}", x.shape());)",
           R"(Require(file.Get(folder + "order") == "little", path, "is not little-endian");)",
           R"(if (bad) Throw<BadInput>("op", "got {}", ToString(kind));)",
           R"(Require(ok, "op", "a call of ToString\( in \"text\"");)",
           R"(// Require(ok, "op", ToString(x)) would make text)",
           R"(TORUS_CHECK(ok, "{}", ToString(kind));)",
       })
    EXPECT_EQ(CheckMessages("a.cc", text), Violations()) << text;
}

TEST(MessageRules, TextMadeForNothingIsFound) {
  for (const char* text : {
           R"(Require(Ok(a, b), "op", "got {}", ToString(x));)",
           R"(Require(ok, "op", "got {}", x.Describe());)",
           R"(Require(ok, "op", "got {}", fmt::format("{}", x));)",
           R"(Require(ok, path + "/" + name, "is damaged");)",
           R"(Require(n <= 10'000, "op", "got {}", ToString(x));)",
           "Require(Ok(a,  // it's both\n b), \"op\", \"got {}\", ToString(x));",
           "Require(Ok(a, /* \" */ b), \"op\", \"got {}\", ToString(x));",
           R"(Rule(ok, schedule, "rank {} runs {}", rank, ToString(action));)",
       })
    EXPECT_EQ(CheckMessages("a.cc", text),
              Violations{"a.cc:1: makes text for a message that may not be needed"})
        << text;
}

TEST(MessageRules, EachCallIsNamedByItsLine) {
  EXPECT_EQ(CheckMessages("a.cc",
                          "Require(a, \"op\", \"{}\", std::to_string(1));\n\n"
                          "Require(b, \"op\", \"fine\");\n"
                          "Require(c, \"op\",\n        \"{}\", ToString(c));\n"),
            (Violations{"a.cc:1: makes text for a message that may not be needed",
                        "a.cc:4: makes text for a message that may not be needed"}));
}

}  // namespace
}  // namespace torus::layering
