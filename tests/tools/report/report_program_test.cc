// tools/report over runs of tools/train.
#include <fmt/format.h>

#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

class ReportTest : public ProgramTest {
 protected:
  Ended Report(const std::vector<std::string>& arguments) const {
    return Program("tools/report/report", arguments, scratch_).Wait();
  }
  std::string Run(const std::string& name) const { return scratch_ + "/" + name; }
  // Starts a run and kills it when it has taken `steps` steps.
  void KillAfter(size_t steps, const std::string& run,
                 const std::vector<std::string>& flags) const {
    const Program program = Start(flags);
    ASSERT_TRUE(program.RunsUntil([&] { return Losses(run).size() >= steps; }));
    program.Signal(SIGKILL);
    ASSERT_EQ(program.Wait().status, 128 + SIGKILL);
  }
  // An epoch has many steps: nothing but metrics is written meanwhile.
  void KillInItsFirstEpoch(const std::string& run) const {
    recipes::testing::WriteImages(scratch_ + "/data", "train", 20000);
    KillAfter(3, run, Small(run));
    ASSERT_FALSE(std::filesystem::exists(Run(run) + "/checkpoint"));
  }
  // The data of its page.
  nlohmann::json Page(const std::string& run) const {
    const Ended made = Report({Run(run)});
    EXPECT_EQ(made.status, 0) << made.err;
    const std::string page = ReadText(Run(run) + "/report.html"),
                      mark = R"(<script type="application/json" id="data">)";
    const size_t begin = page.find(mark) + mark.size();
    return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  }
};

TEST_F(ReportTest, MakesAPageAnewAsTheRunMadeIt) {
  ASSERT_EQ(Train(Small("run")).status, 0);
  const std::string page = ReadText(Run("run") + "/report.html");
  std::filesystem::remove(Run("run") + "/report.html");
  const Ended made = Report({Run("run")});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(ReadText(Run("run") + "/report.html"), page);
}

TEST_F(ReportTest, ComparesRuns) {
  ASSERT_EQ(Train(Small("a", {"--max-steps", "2"})).status, 0);
  ASSERT_EQ(Train(Small("b", {"--max-steps", "2", "--lr", "0.01"})).status, 0);
  const Ended made = Report({Run("a"), Run("b") + "/", "--out", Run("both.html")});
  EXPECT_EQ(made.status, 0) << made.err;
  const std::string page = ReadText(Run("both.html"));
  EXPECT_NE(page.find(R"(["lr","0.07","0.01"])"), std::string::npos);
  EXPECT_NE(page.find(R"("name":"b")"), std::string::npos);
}

TEST_F(ReportTest, WritesTheSummariesAsJson) {
  ASSERT_EQ(Train(Small("run", {"--max-steps", "1"})).status, 0);
  const Ended made = Report({Run("run"), "--json", Run("all.json")});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.out, "wrote " + Run("run") + "/report.html\nwrote " + Run("all.json") + "\n");
  const nlohmann::json all = Json("all.json");
  EXPECT_EQ(all[0]["name"], "run");
  EXPECT_EQ(all[0]["summary"], Json("run/summary.json"));
}

TEST_F(ReportTest, EveryMistakeIsOneLine) {
  ExpectOneLine(Report({}), 2, "runs");
  ExpectOneLine(
      Report({scratch_}), 2,
      "its summary.json, or metrics.jsonl or a checkpoint, got a folder with data, stderr");
  std::filesystem::create_directory(scratch_ + "/empty");
  ExpectOneLine(Report({scratch_ + "/empty"}), 2, "got an empty folder");
  ExpectOneLine(Report({scratch_ + "/stdout"}), 2, "got a file");
  ExpectOneLine(Report({scratch_ + "/nowhere"}), 2, "got no such folder");
  ASSERT_EQ(Train(Small("run", {"--max-steps", "1"})).status, 0);
  std::ofstream(Run("run") + "/summary.json") << R"({"settings": {"schedule": "gpipe"}})";
  ExpectOneLine(Report({Run("run")}), 2, "must be a run's summary");
  std::ofstream(Run("run") + "/summary.json")
      << R"({"settings": {"schedule": "gpipe", "stages": 1, "micro-batches": 1}})";
  ExpectOneLine(Report({Run("run")}), 2, "as a run writes it: key '");
}

TEST_F(ReportTest, ASummaryThatContradictsItselfIsRefused) {
  ASSERT_EQ(Train(Small("run", {"--max-steps", "1"})).status, 0);
  nlohmann::json summary = Json("run/summary.json");
  const auto refused = [&](const nlohmann::json& changed, const std::string& says) {
    std::ofstream(Run("run") + "/summary.json") << changed;
    ExpectOneLine(Report({Run("run")}), 2, says);
  };
  nlohmann::json changed = summary;
  changed["links"][0]["to"] = 99;
  refused(changed, "names a rank that there is not");
  changed = summary;
  changed["predicted"] = {{"seconds", 1}, {"bubble", 0}, {"peak_bytes", nlohmann::json::array()}};
  refused(changed, "array index 0 is out of range");
}

TEST_F(ReportTest, ShowsARunThatWasKilledInItsFirstEpoch) {
  KillInItsFirstEpoch("run");
  const size_t steps = Losses("run").size();
  nlohmann::json page = Page("run");
  EXPECT_EQ(page["title"], "MobileNetV2 x 0.1 on Fashion-MNIST");
  EXPECT_EQ(page["state"]["text"],
            fmt::format("Did not end: nothing was written after step {}; its process was killed, "
                        "or still runs",
                        steps));
  EXPECT_EQ(page["steps"].size(), steps);
  EXPECT_EQ(page["settings"]["codec"], "sortq:8");
  EXPECT_EQ(page["cards"][0][2], "not evaluated");
  EXPECT_EQ(page["cards"][1][0], "Images per second");
  EXPECT_NE(page["cards"][1][1], "–") << "the metrics have it";
  EXPECT_EQ(page["cards"][3][1], "–") << "nobody has measured the bubble";

  std::filesystem::remove(Run("run") + "/metrics.jsonl");
  page = Page("run");
  EXPECT_NE(page["state"]["text"].get<std::string>().find("after step 0;"), std::string::npos);
  EXPECT_EQ(page["settings"]["codec"], "sortq:8");
  std::filesystem::remove(Run("run") + "/summary.json");
  const Ended refused = Report({Run("run")});
  ExpectOneLine(refused, 2, "got a folder with .lock, ");
  EXPECT_NE(refused.err.find("schedule.csv"), std::string::npos) << refused.err;
}

TEST_F(ReportTest, ComparesARunThatWasKilled) {
  ASSERT_EQ(Train(Small("whole", {"--max-steps", "2"})).status, 0);
  KillInItsFirstEpoch("killed");
  const Ended made =
      Report({Run("whole"), Run("killed"), "--out", Run("both.html"), "--json", Run("both.json")});
  EXPECT_EQ(made.status, 0) << made.err;
  const std::string page = ReadText(Run("both.html"));
  EXPECT_NE(page.find("Finished after step 2"), std::string::npos);
  EXPECT_NE(page.find("Did not end: nothing was written after step"), std::string::npos);
  EXPECT_EQ(Json("both.json")[1]["summary"]["steps"], Losses("killed").size());
}

// Without a checkpoint it can only begin anew; then it is as any other.
TEST_F(ReportTest, ARunKilledInItsFirstEpochBeginsAnew) {
  KillInItsFirstEpoch("run");
  ExpectOneLine(Train({"--resume", Run("run")}), 2,
                "has no checkpoint yet: begin it anew with the same --out");
  ASSERT_EQ(Train(Small("run", {"--max-steps", "2"})).status, 0);
  EXPECT_EQ(Page("run")["state"]["text"], "Finished after step 2");
  EXPECT_FALSE(Json("run/summary.json").contains("ended"));
}

// What was measured before it was resumed is not of what came then.
TEST_F(ReportTest, ShowsARunThatWasKilledAfterItWasResumed) {
  ASSERT_EQ(Train(Small("run", {"--max-steps", "4"})).status, 0);
  KillAfter(6, "run", {"--resume", Run("run"), "--epochs", "100000"});
  const size_t steps = Losses("run").size();
  const nlohmann::json page = Page("run");
  EXPECT_EQ(page["state"]["text"],
            fmt::format("Did not end: nothing was written after step {}; its process was killed, "
                        "or still runs. Times of the ranks, bytes and memory are those of its part "
                        "before",
                        steps));
  EXPECT_EQ(page["ranks"].size(), 2u);
  ASSERT_EQ(Train({"--resume", Run("run"), "--max-steps", std::to_string(steps + 1)}).status, 0);
  EXPECT_EQ(Page("run")["state"]["text"], fmt::format("Finished after step {}", steps + 1));
}

// As earlier versions leave one that is killed: without a summary until its end.
TEST_F(ReportTest, ShowsARunWithoutASummary) {
  ASSERT_EQ(Train(Small("run")).status, 0);
  for (const char* file : {"/summary.json", "/schedule.csv"})
    std::filesystem::remove(Run("run") + file);
  nlohmann::json page = Page("run");
  EXPECT_EQ(page["title"], "mobilenet_v2:0.1 on fashion-mnist");
  EXPECT_EQ(page["settings"]["codec"], "sortq:8") << "of the checkpoint";
  EXPECT_EQ(page["steps"].size(), 8u);
  EXPECT_NE(page["cards"][0][1], "–") << "the metrics have the test";
  std::filesystem::remove_all(Run("run") + "/checkpoint");
  page = Page("run");
  EXPECT_EQ(page["title"], "run");
  EXPECT_EQ(page["lead"], "The run left no settings: it has neither a summary nor a checkpoint.");
  EXPECT_EQ(page["steps"].size(), 8u);
  std::filesystem::remove(Run("run") + "/metrics.jsonl");
  const Ended refused = Report({Run("run")});
  ExpectOneLine(refused, 2, "its summary.json, or metrics.jsonl or a checkpoint, got a folder");
  EXPECT_NE(refused.err.find("trace.json"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace torus::tools::testing
