// An experiment as a user runs it: what has no data is told, a second start finds all done.
#include "tests/testing/program.h"

#include <nlohmann/json.hpp>

namespace torus::tools::testing {
namespace {

class ExperimentTest : public ProgramTest {
 protected:
  Ended Run(const std::string& name, std::vector<std::string> more) const {
    more.insert(more.end(), {"--data", scratch_ + "/data", "--out", scratch_ + "/out"});
    return Program("tools/experiments/" + name + "/" + name, more, scratch_).Wait();
  }
  void WriteShakespeare() const {
    std::filesystem::create_directories(scratch_ + "/data/text");
    std::ofstream file(scratch_ + "/data/text/tinyshakespeare.txt");
    for (int i = 0; i < 400; ++i) file << "A king, a kingdom, and a horse " << i << ".\n";
  }
};

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

TEST_F(ExperimentTest, RunsWhatHasDataAndThenFindsItDone) {
  WriteShakespeare();
  const std::vector<std::string> tiny{"--scale", "tiny", "--seeds", "2"};
  const Ended first = Run("sort_quantization", tiny);
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_NE(first.out.find("*** SKIPPED: CIFAR10, MobileNetV2: none: cifar10 is not below"),
            std::string::npos)
      << first.out;
  EXPECT_EQ(Count(first.out, ": begins"), 5u) << first.out;  // pretraining; none, sortq:8: twice
  EXPECT_NE(first.out.find("no data"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("Our figures mean nothing."), std::string::npos) << first.out;
  for (const char* kind : {".html", ".md", ".csv", "-2.csv"})
    EXPECT_TRUE(std::filesystem::exists(scratch_ + "/out/sort_quantization" + kind)) << kind;
  const Ended second = Run("sort_quantization", tiny);
  ASSERT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(Count(second.out, ": begins"), 0u) << second.out;
  EXPECT_EQ(Count(second.out, ": was done before"), 5u) << second.out;
}

TEST_F(ExperimentTest, CtrlCLeavesAPageOfWhatIsDone) {
  WriteShakespeare();
  const std::string out = scratch_ + "/out/sort_quantization";
  const std::vector<std::string> tiny{"--scale",          "tiny",  "--data",
                                      scratch_ + "/data", "--out", scratch_ + "/out"};
  const Program program("tools/experiments/sort_quantization/sort_quantization", tiny, scratch_);
  ASSERT_TRUE(program.RunsUntil([&] { return Count(program.out(), ": begins") == 2; }));
  program.Signal(SIGINT);
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.status, 128 + SIGINT) << ended.err;
  EXPECT_NE(ended.out.find("so far: " + out + "_so_far.html"), std::string::npos) << ended.out;
  EXPECT_NE(ReadText(out + "_so_far.md").find("Stopped before its end."), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(out + ".html"));
  const Ended again = Run("sort_quantization", {"--scale", "tiny"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_NE(again.out.find(": was done before"), std::string::npos) << again.out;
  EXPECT_TRUE(std::filesystem::exists(out + ".html"));
  EXPECT_FALSE(std::filesystem::exists(out + "_so_far.html"));
}

// Without the weights that other runs begin with, those say what to do.
TEST_F(ExperimentTest, StartsFromThePretrainedWeights) {
  namespace fs = std::filesystem;
  WriteShakespeare();
  const std::vector<std::string> tiny{"--scale", "tiny", "--seeds", "1"};
  ASSERT_EQ(Run("sort_quantization", tiny).status, 0);
  std::vector<fs::path> checkpoints;
  for (const auto& run : fs::directory_iterator(scratch_ + "/out/runs")) {
    const nlohmann::json summary =
        nlohmann::json::parse(std::ifstream(run.path() / "summary.json"));
    const std::string init = summary.at("settings").at("init");
    const bool pretrains = run.path().filename().string().find("weights") != std::string::npos;
    EXPECT_EQ(init.empty(), pretrains) << run.path();
    if (!fs::exists(run.path() / "checkpoint")) continue;
    EXPECT_TRUE(pretrains) << run.path() << " keeps a checkpoint";
    checkpoints.push_back(run.path() / "checkpoint");
  }
  ASSERT_EQ(checkpoints.size(), 1u);
  fs::remove_all(checkpoints[0]);
  for (const auto& result : fs::directory_iterator(scratch_ + "/out/results"))
    if (result.path().string().find("sortq") != std::string::npos) fs::remove(result.path());
  ExpectOneLine(Run("sort_quantization", tiny), 2, checkpoints[0].string() + " is missing");
}

TEST_F(ExperimentTest, PlansWithoutTraining) {
  const Ended ended = Run("gpt3xl_networks", {"--scale", "laptop", "--dry-run"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("0.1 ms, 10 Gbps, 1 pipeline"), std::string::npos) << ended.out;
  EXPECT_FALSE(std::filesystem::exists(scratch_ + "/out/results"));
}

TEST_F(ExperimentTest, AMistakeIsOneLine) {
  ExpectOneLine(Run("gpt3xl_networks", {"--scale", "huge"}), 2, "tiny, laptop, paper, got huge");
  ExpectOneLine(Run("gpt3xl_networks", {"--seeds", "0"}), 2, "--seeds");
  std::filesystem::remove_all(scratch_ + "/data");
  ExpectOneLine(Run("gpt3xl_networks", {"--scale", "tiny"}), 2, "--data, or TORUS_DATA, must name");
}

}  // namespace
}  // namespace torus::tools::testing
