#include "recipes/run/summary.h"

#include <gtest/gtest.h>

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

// Between all of `ranks`, 2,000 bytes each that were 4,000.
Json LinksOfAll(int ranks) {
  Json links = Json::array();
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to)
      if (from != to)
        links.push_back({{"from", from},
                         {"to", to},
                         {"what", "all-reduce"},
                         {"sent_bytes", 2000},
                         {"float32_bytes", 4000}});
  return {{"steps_here", 1}, {"links", links}};
}

TEST(Summary, ListsFewLinksAndAddsUpMany) {
  const std::string few = ToText(LinksOfAll(4)), many = ToText(LinksOfAll(7));
  EXPECT_NE(few.find("link 0 -> 1"), std::string::npos) << few;
  EXPECT_NE(few.find("link 3 -> 2"), std::string::npos) << few;
  EXPECT_EQ(many.find("->"), std::string::npos) << many;
  EXPECT_NE(many.find("42 links        82.0 KiB all-reduce, float32 164 KiB (2.00 x)\n"),
            std::string::npos)
      << many;
}

}  // namespace
}  // namespace torus::recipes
