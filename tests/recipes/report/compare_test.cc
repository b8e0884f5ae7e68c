// The page that compares runs, and the trace read back.
#include "recipes/report/compare.h"

#include <gtest/gtest.h>

#include <fstream>

#include "recipes/report/read_trace.h"
#include "runtime/error.h"
#include "tests/recipes/report/sample_run.h"

namespace torus::recipes {
namespace {

using nlohmann::json;

std::vector<NamedRun> TwoRuns() {
  NamedRun one{"one", testing::SampleReport({3, 2})}, two{"<b>two", testing::SampleReport({3, 1})};
  two.report.summary["settings"]["codec"] = "sortq:8";
  two.report.summary["settings"]["init"] = "weights.pth";
  return {one, two};
}

TEST(Comparison, HasEachRunAndWhatDiffers) {
  const json data = ComparisonData(TwoRuns());
  ASSERT_EQ(data["runs"].size(), 2u);
  EXPECT_EQ(data["runs"][1]["name"], "<b>two");
  EXPECT_EQ(data["runs"][1]["steps"], json::parse("[[1, 3.0], [2, 1.0]]"));
  EXPECT_EQ(data["differences"],
            json::parse(R"([["codec", "none", "sortq:8"], ["init", "", "weights.pth"]])"));
}

TEST(Comparison, IsWholeInItself) {
  const std::string page = RenderComparison(TwoRuns());
  EXPECT_EQ(page.find("{{"), std::string::npos) << "a mark of compare.html was left";
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("<b>two"), std::string::npos) << "a name became markup";
}

TEST(ReadChromeTrace, ComesBackAsWritten) {
  const std::vector<trace::Event> events = testing::SampleReport({1}).events;
  const std::string path = ::testing::TempDir() + "/trace.json";
  trace::WriteChromeTrace(events, path);
  const std::vector<trace::Event> read = ReadChromeTrace(path);
  ASSERT_EQ(read.size(), events.size());
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].category, events[i].category);
    EXPECT_EQ(read[i].rank, events[i].rank);
    EXPECT_EQ(read[i].begin_ns, events[i].begin_ns);
    EXPECT_EQ(read[i].end_ns, events[i].end_ns);
    EXPECT_EQ(read[i].step, events[i].step);
    EXPECT_EQ(read[i].micro_batch, events[i].micro_batch);
  }
}

TEST(ReadChromeTrace, RefusesOtherFiles) {
  const std::string path = ::testing::TempDir() + "/other.json";
  for (const char* text :
       {"", "{}", "{\"traceEvents\": [{}]}", "{\"traceEvents\": [{\"ph\": \"X\", \"name\": 3}]}"}) {
    std::ofstream(path) << text;
    EXPECT_THROW(ReadChromeTrace(path), BadInput) << text;
  }
}

}  // namespace
}  // namespace torus::recipes
