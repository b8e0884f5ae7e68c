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
  EXPECT_EQ(data["runs"][1]["steps"], json::parse("[[1, 3.0, 0.5, 6.0], [2, 1.0, 1.0, 12.0]]"));
  EXPECT_EQ(data["runs"][1]["evaluations"][0]["bytes"], 12.0);
  EXPECT_EQ(data["differences"],
            json::parse(R"([["codec", "none", "sortq:8"], ["init", "", "weights.pth"]])"));
}

json RowOf(const json& rows, const std::string& name) {
  for (const json& row : rows)
    if (row[0] == name) return row;
  return nullptr;
}

// The others keep their times.
TEST(Comparison, HasARunThatFailed) {
  std::vector<NamedRun> runs = TwoRuns();
  runs.insert(runs.begin(), {"broken", testing::FailedReport("the disk is full")});
  const json data = ComparisonData(runs);
  EXPECT_EQ(RowOf(data["times"], "Step"), json::parse(R"(["Step", null, 200.0, 200.0])"));
  EXPECT_EQ(RowOf(data["figures"], "State"),
            json::parse(R"(["State", "Failed after step 1: the disk is full",
                            "Finished after step 5", "Finished after step 5"])"));
  EXPECT_EQ(RowOf(data["figures"], "Training time")[1], "–");
}

TEST(Comparison, HasARowForEachKindOfFigure) {
  std::vector<NamedRun> runs = TwoRuns();
  json& text = runs[1].report.summary;
  text["unit"] = "windows";
  text["test"] = {{"perplexity", 7.25}, {"loss", 1.98}, {"samples", 20}};
  const json data = ComparisonData(runs);
  EXPECT_EQ(RowOf(data["figures"], "Test accuracy"),
            json::parse(R"(["Test accuracy", "50.00 %", null])"));
  EXPECT_EQ(RowOf(data["figures"], "Test perplexity"),
            json::parse(R"(["Test perplexity", null, "7.25"])"));
  EXPECT_EQ(RowOf(data["figures"], "Windows per second"),
            json::parse(R"(["Windows per second", null, "12"])"));
  EXPECT_EQ(data["runs"][1]["scoreName"], "perplexity");
}

TEST(Comparison, TellsOfLinksInWhichRunsDiffer) {
  std::vector<NamedRun> runs = TwoRuns();
  runs[0].report.summary["settings"]["link"] = {"10ms,100Mbps,window=64KB,jitter=1ms"};
  runs[1].report.summary["settings"]["link"] = {"1ms,1Gbps", "1>0:1ms,5Gbps"};
  EXPECT_EQ(RowOf(ComparisonData(runs)["differences"], "link"),
            json::parse(R"(["link", "10ms,100Mbps,window=64KB,jitter=1ms",
                            "1ms,1Gbps and 1>0:1ms,5Gbps"])"));
}

TEST(Comparison, NamesRunsByWhatTellsThemApart) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(NamesOf({"a/one", "a/two/"}), (Names{"one", "two"}));
  EXPECT_EQ(NamesOf({"/x/a/run", "/x/b/run/", "/x/other"}), (Names{"a/run", "b/run", "other"}));
  EXPECT_EQ(NamesOf({"/x/a/c/run", "/x/b/c/run", "other/."}),
            (Names{"a/c/run", "b/c/run", "other"}));
  EXPECT_EQ(NamesOf({"/x/run", "/x/run"}), (Names{"run", "run (2)"}));
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
