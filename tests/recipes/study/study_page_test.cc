// A study's page: whole in itself, and what its script makes of it in a browser.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "recipes/study/page.h"
#include "tests/recipes/report/browser.h"

namespace torus::study {
namespace {

using recipes::testing::Count;
using recipes::testing::Part;
using Browser = recipes::testing::Page;

Page Sample() {
  Table table("A table", {{"codec"}, {"ms"}});
  table.Add({"</script>{{DATA}}", 1.5});
  Plot lines{.title = "Error against bytes",
             .x = {"bytes", "B", true},
             .y = {"error", "", true},
             .series = {{"sortq", {{1024, 0.1, 0.01}, {2048, 0.05}}}, {"uniform", {{1024, 0.2}}}}};
  Plot bars{.title = "Seconds",
            .x = {"model"},
            .y = {"time", "s"},
            .series = {{"ours", {{0, 1}, {1, 2}}}, {"published", {{1, 3}}}},
            .kind = PlotKind::kBars,
            .categories = {"VGG13", "GPT"}};
  return {.title = "A <study>",
          .lead = "Of codecs.",
          .parts = {Heading{"First"}, Paragraph{"Words & words."}, table, lines, Heading{"Second"},
                    bars, Picture{"<svg></svg>", "A picture"}}};
}

TEST(StudyPage, IsWholeInItself) {
  const std::string html = ToHtml(Sample());
  EXPECT_EQ(html.find("{{"), std::string::npos) << "a mark of study.html was left";
  EXPECT_EQ(html.find("src="), std::string::npos);
  EXPECT_EQ(html.find("<study>"), std::string::npos) << "a title became markup";
  EXPECT_NE(html.find("&lt;/script&gt;&#123;&#123;DATA}}"), std::string::npos);
}

// Without a script the figures of the plots are there all the same.
TEST(StudyPage, HasTheFiguresOfItsPlotsInTables) {
  const std::string html = ToHtml(Sample());
  EXPECT_EQ(Count(html, "<table>"), 3u);
  EXPECT_NE(html.find("0.1 ± 0.01"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"text\">VGG13</td>"), std::string::npos);
}

TEST(StudyPage, IsWrittenWithItsTables) {
  const std::string folder = ::testing::TempDir() + "/pages/deep";
  std::filesystem::remove_all(folder);
  Page page = Sample();
  page.parts.push_back(page.parts[2]);
  EXPECT_EQ(WritePage(page, folder, "codecs"), folder + "/codecs.html");
  for (const char* name : {"codecs.html", "codecs.md", "codecs.csv", "codecs-2.csv"})
    EXPECT_TRUE(std::filesystem::file_size(folder + "/" + name) > 0) << name;
}

TEST(StudyPage, AsTextHasItsWordsAndTables) {
  const std::string text = ToText(Sample());
  EXPECT_NE(text.find("A <study>\n"), std::string::npos);
  EXPECT_NE(text.find("codec                ms\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("VGG13"), std::string::npos) << "plots are for pages";
  EXPECT_NE(text.find("First\n"), std::string::npos);
  EXPECT_EQ(text.find("Second"), std::string::npos) << "a heading with nothing below";
}

TEST_F(Browser, DrawsEveryPlot) {
  const std::string page = Opened(ToHtml(Sample()));
  ASSERT_FALSE(page.empty()) << log();
  EXPECT_EQ(log().find("Uncaught"), std::string::npos) << log();
  // Chart.js gives a canvas that it has drawn on its size.
  EXPECT_NE(Part(page, "plot-0", "</canvas>").find("width="), std::string::npos);
  EXPECT_NE(Part(page, "plot-1", "</canvas>").find("width="), std::string::npos);
}

// A row to fill in has room for a pen: more than twice the height of its letters.
TEST_F(Browser, LeavesRoomInEmptyCells) {
  Table blank("To fill in", {{"batch"}, {"epoch", "s"}});
  blank.Add({{}, {}});
  const std::string page =
      Opened(ToHtml({.title = "Report", .lead = "", .parts = {Heading{"A"}, blank}}) +
             "<script>const cell = document.querySelector('td:empty');"
             "document.body.append(Object.assign(document.createElement('p'), {id: 'answer', "
             "textContent: cell.clientHeight > 2 * parseFloat(getComputedStyle(cell).fontSize)}));"
             "</script>");
  EXPECT_EQ(Part(page, "answer", "</p>"), "id=\"answer\">true");
}

// Names too long to stand side by side make the plot as high as its bars need.
TEST_F(Browser, LaysBarsOfLongNamesFlat) {
  const auto height = [&](const std::string& category) {
    Plot bars{.title = "Seconds", .x = {"run"}, .y = {"time", "s"}, .kind = PlotKind::kBars};
    bars.series = {{"ours", {}}};
    for (int i = 0; i < 12; ++i) {
      bars.series[0].points.push_back({static_cast<double>(i), 1.0 + i, 0.5});
      bars.categories.push_back(category);
    }
    const std::string page =
        Opened(ToHtml({.title = "Bars", .lead = "", .parts = {Heading{"A"}, bars}}));
    EXPECT_EQ(log().find("Uncaught"), std::string::npos) << log();
    return Count(page, "style=\"height: ");
  };
  EXPECT_EQ(height("short"), 0u);
  EXPECT_EQ(height("pipeline, 4 ranks, batch 256, 8 micro-batches"), 1u);
}

}  // namespace
}  // namespace torus::study
