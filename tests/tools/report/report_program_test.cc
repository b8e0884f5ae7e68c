// tools/report over runs of tools/train.
#include "tests/tools/train/program.h"

namespace torus::tools::testing {
namespace {

class ReportTest : public ProgramTest {
 protected:
  Ended Report(const std::vector<std::string>& arguments) const {
    return Program("tools/report/report", arguments, scratch_).Wait();
  }
  std::string Run(const std::string& name) const { return scratch_ + "/" + name; }
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
  ExpectOneLine(Report({scratch_}), 2, "summary.json, got a folder without one");
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

}  // namespace
}  // namespace torus::tools::testing
