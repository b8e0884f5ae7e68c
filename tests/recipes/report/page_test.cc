// The pages' scripts, run by a browser without a window: what the page has become when they are
// done, and that none has failed.
#include <gtest/gtest.h>

#include <string>

#include "recipes/report/compare.h"
#include "tests/recipes/report/browser.h"
#include "tests/recipes/report/sample_run.h"

namespace torus::recipes {
namespace {

using testing::Count;
using testing::Page;
using testing::Part;

TEST_F(Page, OfARunShowsAllOfIt) {
  const std::string page = Opened(RenderReport(testing::SampleReport({3, 2, 1})));
  ASSERT_FALSE(page.empty()) << log();
  EXPECT_EQ(log().find("Uncaught"), std::string::npos) << log();
  EXPECT_NE(page.find("<title>&lt;/script&gt;"), std::string::npos) << "the title is not the run's";
  EXPECT_EQ(Count(Part(page, "cards", "</section>"), "class=\"card\""), 6u);
  EXPECT_NE(Part(page, "cards", "</section>").find("50.00 %"), std::string::npos);
  // A lane and its spans: two of rank 0 and two of rank 1 measured, four each in the staircase.
  EXPECT_EQ(Count(Part(page, "measured", "</svg>"), "<rect"), 2u + 4u);
  EXPECT_EQ(Count(Part(page, "ideal", "</svg>"), "<rect"), 2u + 8u);
  EXPECT_EQ(Count(Part(page, "split", "</article>"), "class=\"bar\""), 2u);
  EXPECT_EQ(Count(Part(page, "steps-table", "</table>"), "<tr"), 4u);
  EXPECT_NE(Part(page, "steps-table", "</table>").find("<td>200"), std::string::npos);
  EXPECT_EQ(Count(Part(page, "matrix", "</table>"), "<td"), 4u);
  EXPECT_NE(Part(page, "matrix", "</table>").find(">20 B<"), std::string::npos);
  EXPECT_EQ(Count(Part(page, "memory", "</article>"), "class=\"bar thin\""), 4u);
  EXPECT_NE(page.find("id=\"predicted-part\" hidden"), std::string::npos);
  EXPECT_NE(Part(page, "settings", "</dl>").find("gpipe"), std::string::npos);
  // Chart.js gives a canvas that it has drawn on its size.
  EXPECT_NE(Part(page, "loss", "</canvas>").find("width="), std::string::npos);
}

// The page with what `script`, run behind its own, makes of it in an element "answer".
std::string Asked(const std::string& page, const std::string& script) {
  return page + "<script>document.body.append(make('p', {id: 'answer'}, String(" + script +
         ")));</script>";
}

// One wild step, which would make a flat line of all others, leaves the picture: the curve may ask
// for twice the 3 with which it began, and the axis has 30 % more.
TEST_F(Page, AWildStepLeavesTheCurvesTheirPlace) {
  const std::string top = "charts.find((chart) => chart.canvas.id === 'loss').scales.y.max",
                    tame = Opened(Asked(RenderReport(testing::SampleReport({3, 2, 4, 1})), top)),
                    wild = Opened(Asked(RenderReport(testing::SampleReport({3, 2, 4000, 1})), top));
  EXPECT_EQ(log().find("Uncaught"), std::string::npos) << log();
  EXPECT_EQ(Part(tame, "answer", "</p>"), "id=\"answer\">5.2");
  EXPECT_EQ(Part(wild, "answer", "</p>"), "id=\"answer\">7.8");
}

TEST_F(Page, ShowsWhatWasPredicted) {
  ReportInput report = testing::SampleReport({3, 2});
  report.summary["predicted"] = {{"seconds", 0.5}, {"bubble", 0.25}, {"peak_bytes", {1024, 1024}}};
  report.summary["step_seconds"] = 0.625;
  const std::string page = Opened(RenderReport(report));
  ASSERT_FALSE(page.empty()) << log();
  EXPECT_EQ(page.find("id=\"predicted-part\" hidden"), std::string::npos);
  EXPECT_EQ(Count(Part(page, "predictions", "</table>"), "<tr"), 5u);
  EXPECT_NE(Part(page, "predictions", "</table>").find("<td>625 ms"), std::string::npos);
}

TEST_F(Page, OfSeveralRunsShowsEach) {
  NamedRun one{"one", testing::SampleReport({3, 2})}, two{"two", testing::SampleReport({3, 1})};
  two.report.summary["settings"]["codec"] = "sortq:8";
  const std::string page = Opened(RenderComparison({one, two}));
  ASSERT_FALSE(page.empty()) << log();
  EXPECT_EQ(log().find("Uncaught"), std::string::npos) << log();
  EXPECT_NE(page.find("<title>2 runs"), std::string::npos);
  const std::string figures = Part(page, "figures", "</table>");
  EXPECT_EQ(Count(figures, "<tr"), 9u) << figures;
  EXPECT_EQ(Count(figures, "<td"), 16u) << figures;
  const std::string times = Part(page, "times", "</table>");
  EXPECT_EQ(Count(times, "<tr"), 10u) << times;
  EXPECT_EQ(Count(times, "<td>200"), 18u) << times;
  EXPECT_NE(Part(page, "differences", "</table>").find("<td>sortq:8"), std::string::npos);
  for (const char* over : {"steps", "seconds", "bytes"})
    for (const char* what : {"loss-", "accuracy-"}) {
      const std::string canvas = Part(page, std::string(what) + over, "</canvas>");
      EXPECT_NE(canvas.find("width="), std::string::npos) << what << over;
    }
}

// Its scripts come to their end too, for all runs of a comparison.
TEST_F(Page, OfARunThatFailedSaysSo) {
  const ReportInput failed = testing::FailedReport("rank 1 is <b>lost");
  std::string page = Opened(RenderReport(failed));
  ASSERT_FALSE(page.empty()) << log();
  EXPECT_EQ(log().find("Uncaught"), std::string::npos) << log();
  EXPECT_NE(Part(page, "state", "</p>").find("Failed after step 1: rank 1 is &lt;b&gt;lost"),
            std::string::npos);
  EXPECT_EQ(Part(page, "state", ">").find("hidden"), std::string::npos);
  EXPECT_EQ(Count(Part(page, "memory", "</article>"), "class=\"bar thin\""), 2u);
  page = Opened(RenderComparison({{"broken", failed}, {"whole", testing::SampleReport({3, 2})}}));
  EXPECT_EQ(log().find("Uncaught"), std::string::npos) << log();
  EXPECT_EQ(Count(Part(page, "times", "</table>"), "<td>200"), 9u);
  EXPECT_NE(Part(page, "loss-steps", "</canvas>").find("width="), std::string::npos);
}

// More cells than a call may have arguments.
TEST_F(Page, OfManyRanksShowsTheirBytes) {
  constexpr int kRanks = 400;
  ReportInput report = testing::SampleReport({1});
  report.summary["ranks"] = nlohmann::json::array();
  for (int rank = 0; rank < kRanks; ++rank)
    report.summary["ranks"].push_back(testing::SampleRank(rank));
  const std::string page = Opened(RenderReport(report));
  ASSERT_FALSE(page.empty()) << log();
  EXPECT_EQ(log().find("Uncaught"), std::string::npos) << log();
  EXPECT_EQ(Count(Part(page, "matrix", "</table>"), "<td"), size_t{kRanks} * kRanks);
}

}  // namespace
}  // namespace torus::recipes
