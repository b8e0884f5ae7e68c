#include "recipes/run/summary.h"

#include <gtest/gtest.h>

#include <utility>

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

// Of two ranks, of which the second waited `seconds` of its 50 for data.
Json WaitingFor(double seconds, const char* data, const char* cache) {
  const auto rank = [](int number, double waited) {
    return Json{{"rank", number}, {"seconds", {{"data_wait", waited}, {"wall", 50.0}}}};
  };
  return {{"steps_here", 1},
          {"unit", "images"},
          {"settings", {{"data", data}, {"image-cache", cache}}},
          {"ranks", {rank(0, 0.1), rank(1, seconds)}}};
}

TEST(Summary, SaysWhenTheStepsWaitedForData) {
  EXPECT_EQ(ToText(WaitingFor(6, "food101", "")),
            "data            12 % of the time was waited for images: more --threads or "
            "--image-cache\n");
  for (const auto& [data, cache] : {std::pair{"food101", "/cache"}, {"cifar10", ""}})
    EXPECT_EQ(ToText(WaitingFor(6, data, cache)),
              "data            12 % of the time was waited for images: more --threads\n");
  EXPECT_EQ(ToText(WaitingFor(1.5, "food101", "")), "");
}

Json SummaryWith(const Json& fallbacks) {
  return {
      {"plans",
       {{"made", 84}, {"compiled", 12}, {"known", 31}, {"timed", 320}, {"fallbacks", fallbacks}}}};
}

TEST(Summary, SaysHowPlansWereMadeAndWhatHadNone) {
  const std::string made =
      "plans           84 made, 12 compiled at run time, 31 chosen before, 320 proposals timed\n";
  EXPECT_EQ(ToText(SummaryWith(Json::object())), made);
  EXPECT_EQ(ToText(SummaryWith({{"a", 2}, {"b", 7}})), made + "no fast plan    7 x b; 2 x a\n");
  EXPECT_EQ(ToText(SummaryWith({{"a", 2}, {"b", 7}, {"c", 1}, {"d", 3}, {"e", 1}})),
            made + "no fast plan    7 x b; 3 x d; 2 x a; 2 others in summary.json\n");
  EXPECT_EQ(ToText(Json{{"plans", nullptr}}), "") << "on a CPU";
}

}  // namespace
}  // namespace torus::recipes
