#include "tools/replay/attrs.h"

#include <gtest/gtest.h>

#include "tools/replay/case.h"

namespace torus::replay {
namespace {

Attrs Parse(const char* text) { return Attrs("op", nlohmann::json::parse(text)); }

TEST(Attrs, GivesDefaultsForWhatIsAbsentOrNone) {
  Attrs attrs = Parse(R"({"a": null})");
  EXPECT_EQ(attrs.Number("a", 1.5), 1.5);
  EXPECT_EQ(attrs.Int("b", 3), 3);
  EXPECT_FALSE(attrs.Ints("c").has_value());
  EXPECT_NO_THROW(attrs.Finish());
}

TEST(Attrs, ReadsPairs) {
  Attrs attrs = Parse(R"({"one": 2, "list": [3], "two": [4, 5], "none": [], "many": [1, 2, 3]})");
  EXPECT_EQ(attrs.Pair("one", {1, 1}), (Dims{2, 2}));
  EXPECT_EQ(attrs.Pair("list", {1, 1}), (Dims{3, 3}));
  EXPECT_EQ(attrs.Pair("two", {1, 1}), (Dims{4, 5}));
  EXPECT_EQ(attrs.Pair("none", {1, 1}), (Dims{1, 1}));
  EXPECT_THROW(attrs.Pair("many", {1, 1}), Unsupported);
}

TEST(Attrs, ReadsLists) {
  Attrs attrs = Parse(R"({"one": 2, "many": [1, 2, 3, 4, 5, 6, 7, 8, 9], "half": [1, 0.5]})");
  EXPECT_EQ(attrs.List("one"), std::vector<int64_t>{2});
  EXPECT_EQ(attrs.List("many"), (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_FALSE(attrs.List("none").has_value());
  EXPECT_THROW(attrs.List("half"), Unsupported);
}

TEST(Attrs, NobodyNeedReadNone) { EXPECT_NO_THROW(Parse(R"({"bias": null})").Finish()); }

TEST(Attrs, RefusesOtherTypesAndWhatWasNotRead) {
  Attrs attrs = Parse(R"({"a": "x", "b": 1.5, "c": true})");
  EXPECT_THROW(attrs.Number("a", 0), Unsupported);
  EXPECT_THROW(attrs.Int("b", 0), Unsupported);
  EXPECT_THROW(attrs.Finish(), Unsupported);
  EXPECT_TRUE(attrs.Flag("c", false));
  EXPECT_NO_THROW(attrs.Finish());
}

}  // namespace
}  // namespace torus::replay
