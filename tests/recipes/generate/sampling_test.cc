#include "recipes/generate/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "recipes/generate/stop_strings.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

using std::string_literals::operator""s;

// Probabilities 0.1, 0.4, 0.3, 0.2.
std::vector<float> Logits() {
  return {std::log(0.1F), std::log(0.4F), std::log(0.3F), std::log(0.2F)};
}

// How often each token comes of evenly spread draws.
std::vector<int> Counts(const SamplingOptions& options, int draws = 1000) {
  const std::vector<float> logits = Logits();
  std::vector<int> counts(logits.size());
  for (int i = 0; i < draws; ++i)
    ++counts[static_cast<size_t>(SampleToken(logits, options, (i + 0.5) / draws))];
  return counts;
}

TEST(Sampling, DrawsByProbability) {
  EXPECT_EQ(Counts({}), (std::vector<int>{100, 400, 300, 200}));
}

TEST(Sampling, TemperatureZeroIsTheLikeliest) {
  EXPECT_EQ(Counts({.temperature = 0}), (std::vector<int>{0, 1000, 0, 0}));
}

TEST(Sampling, TemperatureSharpens) {  // squares: 1, 16, 9, 4 of 30
  EXPECT_EQ(Counts({.temperature = 0.5}, 3000), (std::vector<int>{100, 1600, 900, 400}));
}

TEST(Sampling, TopKKeepsTheLikeliest) {
  EXPECT_EQ(Counts({.top_k = 2}, 700), (std::vector<int>{0, 400, 300, 0}));
  EXPECT_EQ(Counts({.top_k = 99}), Counts({}));
}

TEST(Sampling, TopPKeepsTheNucleus) {
  EXPECT_EQ(Counts({.top_p = 0.5}, 700), (std::vector<int>{0, 400, 300, 0}));
  EXPECT_EQ(Counts({.top_p = 0.39}), (std::vector<int>{0, 1000, 0, 0}));
  // Of what top_k leaves: 4/7 and 3/7.
  EXPECT_EQ(Counts({.top_k = 2, .top_p = 0.5}), (std::vector<int>{0, 1000, 0, 0}));
}

TEST(Sampling, EqualLogitsInAscendingOrder) {
  const std::vector<float> logits(4, 1.0F);
  EXPECT_EQ(SampleToken(logits, {}, 0.0), 0);
  EXPECT_EQ(SampleToken(logits, {}, 0.3), 1);
  EXPECT_EQ(SampleToken(logits, {}, std::nextafter(1.0, 0.0)), 3);
}

TEST(Sampling, RefusesWhatMakesNoSense) {
  const std::vector<float> logits = Logits();
  EXPECT_THROW(SampleToken(logits, {.temperature = -1}, 0.5), BadInput);
  EXPECT_THROW(SampleToken(logits, {.top_k = -1}, 0.5), BadInput);
  EXPECT_THROW(SampleToken(logits, {.top_p = 0}, 0.5), BadInput);
  EXPECT_THROW(SampleToken(logits, {.top_p = 1.5}, 0.5), BadInput);
  EXPECT_THROW(SampleToken({}, {}, 0.5), BadInput);
  const std::vector<float> nan = {0, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THROW(SampleToken(nan, {}, 0.5), BadInput);
}

TEST(Penalize, MakesWhatIsThereLessLikely) {
  std::vector<float> logits = {3, -1, -4, 5};
  Penalize({0, 2}, 2, logits);
  EXPECT_EQ(logits, (std::vector<float>{1.5, -1, -8, 5}));
}

// What is shown of the pieces, and how the text ends.
std::pair<std::vector<std::string>, std::string> Shown(const std::vector<std::string>& stop,
                                                       const std::vector<std::string>& pieces) {
  StopStrings text(stop);
  std::vector<std::string> shown;
  for (const std::string& piece : pieces) shown.push_back(text.Add(piece));
  shown.push_back(text.Finish());
  return {shown, text.text()};
}

TEST(StopStrings, HoldBackWhatMayBeTheBeginningOfOne) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(Shown({"END"}, {"a E", "N", "Db", "c"}), std::pair(Words{"a ", "", "", "", ""}, "a "s));
  EXPECT_EQ(Shown({"END"}, {"a E", "N", "d"}), std::pair(Words{"a ", "", "ENd", ""}, "a ENd"s));
  EXPECT_EQ(Shown({"END"}, {"EEN"}), std::pair(Words{"E", "EN"}, "EEN"s));
  EXPECT_EQ(Shown({"xyz", "y"}, {"axyz"}), std::pair(Words{"a", ""}, "a"s));
  EXPECT_EQ(Shown({}, {"a", "b"}), std::pair(Words{"a", "b", ""}, "ab"s));
  EXPECT_THROW(StopStrings({""}), BadInput);
}

}  // namespace
}  // namespace torus::recipes
