// Tables as text, CSV, Markdown and HTML, and what a plot says as a table.
#include "recipes/study/table.h"

#include <gtest/gtest.h>

#include <limits>

#include "recipes/study/plot.h"
#include "runtime/error.h"

namespace torus::study {
namespace {

Table Sample() {
  Table table("Codecs", {{"codec"}, {"accuracy", "%", 1}, {"bytes"}}, "a note");
  table.Add({"sortq:8", Measured{93.25, 0.5, 3}, 128.0});
  table.Add({"<none>, \"raw\"", Measured{90, 0, 1}, {}});
  return table;
}

TEST(Table, AsText) {
  EXPECT_EQ(ToText(Sample()),
            "Codecs\n"
            "codec          accuracy (%)   bytes\n"
            "sortq:8          93.2 ± 0.5  128.00\n"
            "<none>, \"raw\"          90.0\n"
            "a note\n");
}

TEST(Table, AsCsvHasNumbersInFullAndDeviationsApart) {
  EXPECT_EQ(ToCsv(Sample()),
            "codec,accuracy (%),deviation of accuracy (%),bytes\n"
            "sortq:8,93.25,0.5,128\n"
            "\"<none>, \"\"raw\"\"\",90,,\n");
}

TEST(Table, AsMarkdown) {
  EXPECT_EQ(ToMarkdown(Sample()),
            "**Codecs**\n\n"
            "| codec | accuracy (%) | bytes |\n"
            "|---|---:|---:|\n"
            "| sortq:8 | 93.2 ± 0.5 | 128.00 |\n"
            "| \\<none>, \"raw\" | 90.0 |  |\n"
            "\na note\n");
}

TEST(Table, AsHtmlReadsNoTextAsMarkup) {
  const std::string html = ToHtml(Sample());
  EXPECT_EQ(html.find("<none>"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"text\">&lt;none&gt;, &quot;raw&quot;</td>"), std::string::npos);
  EXPECT_NE(html.find("<td>93.2 ± 0.5</td>"), std::string::npos);
  EXPECT_NE(html.find("class=\"scroll\""), std::string::npos);
}

TEST(Table, GivesNoSignToWhatRoundsToZero) {
  Table table("t", {{"x", "", 1}});
  for (const double x : {-0.04, -0.06, 0.04}) table.Add({x});
  EXPECT_EQ(ToText(table), "t\n   x\n 0.0\n-0.1\n 0.0\n");
}

TEST(Table, BreaksOnlyLongTextsIntoLines) {
  Table table("t", {{"x"}});
  table.Add({"short"});
  table.Add({"a text of more than twenty-four letters"});
  const std::string html = ToHtml(table);
  EXPECT_NE(html.find("<td class=\"text\">short"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"text long\">a text"), std::string::npos);
}

// CSV, which programs read, has none.
TEST(Table, SeparatesThousands) {
  Table table("t", {{"x", "", 1}});
  for (const double x : {999.0, -1000.0, 8587548672.25}) table.Add({x});
  EXPECT_EQ(ToText(table),
            "t\n              x\n          999.0\n       -1,000.0\n8,587,548,672.2\n");
  EXPECT_EQ(ToCsv(table), "x\n999\n-1000\n8587548672.25\n");
}

TEST(Table, OfWhatIsNotFinite) {
  Table table("t", {{"x"}});
  table.Add({std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(ToText(table), "t\nx\n-\n");
  EXPECT_EQ(ToCsv(table), "x\n\n");
}

TEST(Table, RefusesRowsOfOtherLengths) {
  Table table = Sample();
  try {
    table.Add({"one"});
    FAIL() << "a short row was taken";
  } catch (const BadInput& error) {
    EXPECT_STREQ(error.what(), "[table] Codecs has 3 columns, got a row of 1 cells");
  }
  EXPECT_THROW(Table("none", {}), BadInput);
}

TEST(Plot, GivesItsFiguresAsATable) {
  const Plot plot{.title = "Loss",
                  .x = {"step"},
                  .y = {"loss", "nats"},
                  .series = {{"a", {{1, 2.5, 0.25}, {2, 2}}}, {"b", {{2, 3}}}}};
  EXPECT_EQ(ToCsv(TableOf(plot)), "step,a (nats),b (nats)\n1,2.5 ± 0.25,\n2,2,3\n");
}

TEST(Plot, NamesTheCategoriesOfItsBars) {
  Plot plot{.title = "p",
            .x = {"model"},
            .y = {"s"},
            .series = {{"ours", {{0, 1}, {1, 2}}}},
            .kind = PlotKind::kBars,
            .categories = {"VGG13", "GPT"}};
  EXPECT_EQ(ToCsv(TableOf(plot)), "model,ours\nVGG13,1\nGPT,2\n");
  plot.series[0].points.push_back({2, 3});
  EXPECT_THROW(TableOf(plot), BadInput);
}

}  // namespace
}  // namespace torus::study
