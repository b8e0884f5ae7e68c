#include "parallel/schedule/svg.h"

#include <gtest/gtest.h>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/gpipe.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

std::string Draw(const Schedule& schedule, const CostModel& costs) {
  return ToSvg(schedule, Simulate(schedule, costs));
}

TEST(Svg, DrawsEachActionAndMessageToScale) {
  const std::string svg = Draw(
      GPipe({2, 1}), {.forward = {1, 1}, .backward = {2, 2}, .links = LinkTable({.latency = 1})});
  EXPECT_EQ(svg.find("<svg xmlns=\"http://www.w3.org/2000/svg\""), 0u);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  // 8 seconds are 1016 pixels from 72 on.
  for (
      const char* bar :
      {"<rect class=\"f bar\" x=\"72\" y=\"98\" width=\"127\" height=\"28\"><title>0F0, 0 to 1 s",
       "<rect class=\"x bar\" x=\"199\" y=\"127\" width=\"127\" height=\"5\"><title>activation of "
       "micro-batch 0 from rank 0 to rank 1, 1 to 2 s",
       "<rect class=\"f bar\" x=\"326\" y=\"150\" width=\"127\" height=\"28\"><title>1F0, 2 to 3 s",
       "<rect class=\"b bar\" x=\"453\" y=\"150\" width=\"254\" height=\"28\"><title>1B0, 3 to 5 s",
       "<rect class=\"x bar\" x=\"707\" y=\"144\" width=\"127\" height=\"5\"><title>gradient of "
       "micro-batch 0 from rank 1 to rank 0, 5 to 6 s",
       "<rect class=\"b bar\" x=\"834\" y=\"98\" width=\"254\" height=\"28\"><title>0B0, 6 to 8 s"})
    EXPECT_EQ(Count(svg, bar), 1u) << bar << "\n" << svg;
  EXPECT_EQ(Count(svg, " bar\""), 6u);
  EXPECT_EQ(Count(svg, ">rank 1</text>"), 1u);
}

TEST(Svg, HasALegendOfWhatOccurs) {
  const std::string whole = Draw(GPipe({2, 2}), {});
  EXPECT_EQ(Count(whole, ">backward</text>"), 1u);
  EXPECT_EQ(Count(whole, "weights</text>") + Count(whole, ">optimizer</text>"), 0u);
  const std::string halves =
      Draw(MakeSchedule("zb-h1", {2, 2}), {.reduce = {1, 1}, .step = {1, 1}});
  EXPECT_EQ(Count(halves, ">backward</text>"), 0u);
  for (const char* name :
       {"forward", "backward, inputs", "backward, weights", "all-reduce", "optimizer", "transfer"})
    EXPECT_EQ(Count(halves, std::string(">") + name + "</text>"), 1u) << name;
  EXPECT_EQ(Count(Draw(GPipe({1, 2}), {}), ">transfer</text>"), 0u);
}

TEST(Svg, NumbersCellsWithRoomAndMarksLaterChunks) {
  EXPECT_EQ(Count(Draw(GPipe({4, 8}), {}), "class=\"cell\""), 2u * 4 * 8);
  EXPECT_EQ(Count(Draw(GPipe({2, 500}), {}), "class=\"cell\""), 0u);
  EXPECT_EQ(Count(Draw(MakeSchedule("interleaved", {2, 2, 2}), {}), "class=\"late\""), 2u * 2 * 2);
}

TEST(Svg, NamesAreTextAndNoMarkup) {
  Schedule schedule = GPipe({1, 1});
  schedule.name = "<b>&";
  EXPECT_EQ(Count(Draw(schedule, {}), "&lt;b&gt;&amp;: 1 ranks"), 1u);
}

TEST(Svg, TakesNoTimeAtAllAndRefusesTooMuch) {
  EXPECT_NE(Draw(GPipe({1, 1}), {.forward = {0}, .backward = {0}}).find("0 s, of which"),
            std::string::npos);
  EXPECT_THROW(Draw(GPipe({1, 40'000}), {}), BadInput);
}

}  // namespace
}  // namespace torus::parallel
