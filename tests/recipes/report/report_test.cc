#include "recipes/report/report.h"

#include <gtest/gtest.h>

#include "parallel/schedule/factory.h"
#include "recipes/report/timeline.h"
#include "tests/recipes/report/sample_run.h"

namespace torus::recipes {
namespace {

using nlohmann::json;

TEST(Timeline, TakesTheWholeStepOfMedianLength) {
  std::vector<trace::Event> events;
  // Steps 0..3 of 10, 40, 20, 30 ns; step 4 is not whole: rank 1 has no backward in it.
  const int64_t lengths[] = {10, 40, 20, 30, 50};
  for (int64_t step = 0; step < 5; ++step)
    for (int rank = 0; rank < 2; ++rank) {
      const int64_t begin = 100 * step;
      events.push_back(testing::SampleEvent("forward", rank, begin, begin + 5, step));
      if (step < 4 || rank == 0)
        events.push_back(
            testing::SampleEvent("backward", rank, begin + 5, begin + lengths[step], step));
    }
  const json timeline = MeasuredTimeline(events, {"a", "b"});
  EXPECT_EQ(timeline["step"], 3);
  EXPECT_DOUBLE_EQ(timeline["seconds"].get<double>(), 30e-9);
  ASSERT_EQ(timeline["lanes"].size(), 2u);
  EXPECT_EQ(timeline["lanes"][1]["name"], "b");
  EXPECT_EQ(timeline["lanes"][1]["spans"][1][3], "B0");
}

TEST(Timeline, LeavesOutAStepWithALastBackwardUnseen) {
  std::vector<trace::Event> events;
  // Step 2, which would be the middle one, lacks one of rank 0's two backwards.
  const int64_t lengths[] = {50, 40, 35, 30};
  for (int64_t step = 0; step < 4; ++step)
    for (int rank = 0; rank < 2; ++rank)
      for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
        const int64_t begin = 100 * step;
        if (step == 2 && rank == 0 && micro_batch == 1) continue;
        events.push_back(
            testing::SampleEvent("backward", rank, begin, begin + lengths[step], step));
      }
  EXPECT_EQ(MeasuredTimeline(events, {"a", "b"})["step"], 3);
}

TEST(Timeline, IsEmptyWithoutAWholeStep) {
  EXPECT_TRUE(MeasuredTimeline({}, {"a"})["lanes"].empty());
}

TEST(Timeline, IdealIsTheSimulators) {
  const json timeline =
      IdealTimeline(parallel::MakeSchedule("gpipe", {2, 2}), 1, 2, {"a", "b", "c", "d"});
  EXPECT_DOUBLE_EQ(timeline["seconds"].get<double>(), 9);  // 3 forwards and 3 backwards deep
  ASSERT_EQ(timeline["lanes"].size(), 4u);
  EXPECT_EQ(timeline["lanes"][1]["spans"], timeline["lanes"][3]["spans"]);  // a second replica
}

json DataOf(const ReportInput& input) {
  const std::string page = RenderReport(input),
                    mark = R"(<script type="application/json" id="data">)";
  const size_t begin = page.find(mark) + mark.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(Report, CarriesItsDataAndNoMarkupOfIt) {
  const std::vector<json> metrics = {
      {{"kind", "train"}, {"step", 1}, {"loss", 2.5}},
      {{"kind", "test"}, {"step", 1}, {"loss", 2.0}, {"accuracy", 0.25}}};
  const ReportInput input{
      testing::SampleSummary(), metrics, {}, parallel::MakeSchedule("gpipe", {2, 2})};
  const std::string page = RenderReport(input);
  const json data = DataOf(input);
  EXPECT_EQ(data["title"], "</script><script>alert(1)</script>");
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(data["steps"], json::parse("[[1, 2.5, 0.0, 0.0]]"));
  EXPECT_EQ(data["evaluations"][0]["score"], 25);
  EXPECT_EQ(data["cards"][0][1], "50.00 %");
  EXPECT_EQ(data["settings"]["cut"], "4");
  EXPECT_FALSE(data["settings"].contains("init"));
  EXPECT_EQ(page.find("{{"), std::string::npos) << "a mark of page.html was left";
}

// Transfers are drawn by their direction, idle times as waits.
TEST(Timeline, TellsSendsReceivesAndWaits) {
  std::vector<trace::Event> events{testing::SampleEvent("backward", 0, 0, 5, 1)};
  for (const char* name : {"SG0", "RA0", "flush"}) {
    events.push_back(testing::SampleEvent("transfer", 0, 5, 6, 1));
    events.back().name = name;
  }
  events.push_back(testing::SampleEvent("idle", 0, 6, 9, 1));
  const json spans = MeasuredTimeline(events, {"a"})["lanes"][0]["spans"];
  std::vector<std::string> kinds;
  for (const json& span : spans) kinds.push_back(span[2]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"backward", "send", "receive", "send", "wait"}));
}

// Each of the sample's ranks takes a second for each part of five steps.
TEST(Report, HasATableOfWhatAStepTakes) {
  const json table = DataOf(testing::SampleReport({1}))["steps_table"];
  ASSERT_EQ(table.size(), 4u);  // titles, two ranks, their mean
  EXPECT_EQ(table[0][3], "Forward");
  EXPECT_EQ(table[1][3], 200);
  EXPECT_EQ(table[0][7], "Agreement") << "one replica has none to sum with";
  ReportInput two = testing::SampleReport({1});
  two.summary["settings"]["replicas"] = 2;
  EXPECT_EQ(DataOf(two)["steps_table"][0][7], "All-reduce");
  EXPECT_EQ(table[3][0], "mean");
  EXPECT_EQ(table[3][3], 200);
}

TEST(Report, HasBytesBetweenRanksAndMemoryOfEach) {
  ReportInput input = testing::SampleReport({1});
  EXPECT_EQ(DataOf(input)["matrix"], json::parse("[[0, 10], [20, 0]]"));
  json memory = DataOf(input)["memory"];
  ASSERT_EQ(memory.size(), 4u);
  EXPECT_EQ(memory[2]["name"], "rank 0 · stage 0: kept between steps");
  EXPECT_EQ(memory[2]["value"], "150 B");
  // With a process of its own a rank's peak is known, and so is what of it does not last.
  input.summary["ranks"][1]["peak_bytes"] = 250;
  memory = DataOf(input)["memory"];
  EXPECT_EQ(memory[3]["name"], "rank 1 · stage 1: most at once");
  EXPECT_EQ(memory[3]["parts"][2][1], 100);
}

TEST(Report, HasWhatWasPredictedBesideWhatCame) {
  ReportInput input = testing::SampleReport({1});
  EXPECT_TRUE(DataOf(input)["predictions"].empty());
  input.summary["predicted"] = {{"seconds", 0.5}, {"bubble", 0.25}, {"peak_bytes", {1024, 2048}}};
  input.summary["step_seconds"] = 0.625;
  input.summary["ranks"][1]["peak_bytes"] = 3072;
  EXPECT_EQ(DataOf(input)["predictions"], json::parse(R"([
      ["Time of a step", "500 ms", "625 ms"], ["Bubble", "25.0 %", "40.0 %"],
      ["Memory of rank 0", "1.00 KiB", "with the others"],
      ["Memory of rank 1", "2.00 KiB", "3.00 KiB"]])"));
}

// Two micro-batches on two ranks, each a forward of 1 s and two halves of a backward of 1 s.
TEST(Report, BothHalvesOfABackwardAreOneTime) {
  constexpr int64_t kSecond = 1'000'000'000;
  ReportInput input{testing::SampleSummary(), {}, {}, parallel::MakeSchedule("zb-h1", {2, 2})};
  for (int rank = 0; rank < 2; ++rank)
    for (int i = 0; i < 6; ++i)
      input.events.push_back(testing::SampleEvent(i < 2 ? "forward" : "backward", rank, i * kSecond,
                                                  (i + 1) * kSecond, 0));
  const json ideal = DataOf(input).at("ideal");
  // (K - 1)(f + b_input - w) of bubble beside M (f + b).
  EXPECT_NEAR(ideal.at("seconds").get<double>(), 7, 1e-9);
}

TEST(Report, ThinsManySteps) {
  std::vector<json> metrics;
  for (int step = 1; step <= 50000; ++step)
    metrics.push_back({{"kind", "train"}, {"step", step}, {"loss", 1.0}});
  const std::string page = RenderReport(
      {testing::SampleSummary(), metrics, {}, parallel::MakeSchedule("gpipe", {2, 2})});
  EXPECT_LT(page.size(), 400'000u);
  EXPECT_NE(page.find("[50000,1.0,"), std::string::npos);
}

TEST(Report, SaysHowTheRunEnded) {
  ReportInput input = testing::SampleReport({1});
  EXPECT_EQ(DataOf(input)["state"]["kind"], "finished");
  input.summary["finished"] = false;
  EXPECT_EQ(DataOf(input)["state"],
            json::parse(R"({"kind": "stopped", "text": "Stopped after step 5, before its end"})"));
  const json failed = DataOf(testing::FailedReport("rank 1 is lost"));
  EXPECT_EQ(failed["state"],
            json::parse(R"({"kind": "failed", "text": "Failed after step 1: rank 1 is lost"})"));
  EXPECT_EQ(failed["linksNote"], "The run ended before bytes were counted.");
  EXPECT_EQ(failed["cards"][1][1], "–");
}

TEST(Report, SaysWhatIsOutOfTheOrdinary) {
  ReportInput input = testing::SampleReport({1});
  EXPECT_EQ(DataOf(input)["notes"], json::array());
  json& summary = input.summary;
  summary["skipped_steps"] = 1200;
  summary["loss_scale"] = 65536;
  summary["drift"] = 0.125;
  summary["settings"]["strategy"] = "none";
  summary["settings"]["replicas"] = 2;
  summary["graph_steps"] = 3;
  summary["graph_checks"] = 2;
  summary["graph_updates"] = 0;
  summary["why_no_graph"] = "other shapes";
  EXPECT_EQ(DataOf(input)["notes"], json::parse(R"([
      ["Skipped steps", "1,200: their loss or gradients were not finite"],
      ["Loss scale", "65,536 at the end"],
      ["Replicas apart", "up to 12.5 % of the weights' norm from replica 0"],
      ["CUDA graphs", "3 of 5 steps, 2 checks, 0 updates: other shapes"]])"));
}

TEST(Report, NamesLinksAndTheCodecOfGradientsFirst) {
  ReportInput input = testing::SampleReport({1});
  input.summary["settings"].update({{"codec", "sortq:8"},
                                    {"codec-backward", "uniform:4"},
                                    {"link", {"10ms,1Gbps", "0>1:1ms,1Gbps"}}});
  const json data = DataOf(input);
  EXPECT_EQ(data["lead"],
            "2 stages, 1 replica, 2 micro-batches, gpipe schedule, codec sortq:8 (backward "
            "uniform:4), links 10ms,1Gbps and 0>1:1ms,1Gbps");
  EXPECT_EQ(data["settings"]["link"], "10ms,1Gbps and 0>1:1ms,1Gbps");
  input.summary["settings"]["link"] = json::array();
  EXPECT_FALSE(DataOf(input)["settings"].contains("link"));
}

// A single rank agrees with nobody, and nothing crosses a cut of one stage.
TEST(Report, HasNothingOfWhatTheRunHasNot) {
  ReportInput input = testing::SampleReport({1});
  for (json& rank : input.summary["ranks"]) rank["seconds"]["reduce"] = 0.0;
  const json table = DataOf(input)["steps_table"];
  for (const json& title : table[0]) EXPECT_NE(title, "Agreement");
  input.summary["settings"]["stages"] = 1;
  input.summary["settings"]["replicas"] = 2;
  input.summary["links"] = json::array();
  EXPECT_EQ(DataOf(input)["cards"][4], json::parse(R"(["On the cuts", "–", "one stage"])"));
  input.summary["settings"]["device"] = "cuda";
  EXPECT_EQ(DataOf(input)["cards"][5][0], "Peak GPU memory");
}

// Seconds are those of the steps; bytes are in proportion to the samples.
TEST(Report, HasCurvesOverSecondsAndBytes) {
  const json data = DataOf(testing::SampleReport({3, 2}));
  EXPECT_EQ(data["steps"], json::parse("[[1, 3.0, 0.5, 6.0], [2, 2.0, 1.0, 12.0]]"));
  EXPECT_EQ(data["evaluations"][0]["seconds"], 1.0);
}

// JSON has no infinity: read back it is null.
TEST(Report, ShowsALanguageModelThatDiverged) {
  json summary = testing::SampleSummary();
  for (const json& perplexity : {json(nullptr), json(std::numeric_limits<double>::infinity())}) {
    summary["test"] = {{"perplexity", perplexity}, {"loss", nullptr}, {"samples", 20}};
    const json line = {
        {"kind", "test"}, {"step", 5}, {"loss", nullptr}, {"perplexity", perplexity}};
    const std::string page =
        RenderReport({summary, {line}, {}, parallel::MakeSchedule("gpipe", {2, 2})});
    EXPECT_NE(page.find("Test perplexity"), std::string::npos);
    EXPECT_NE(page.find("\"score\":null"), std::string::npos);
  }
}

}  // namespace
}  // namespace torus::recipes
