// tools/evaluate over runs of tools/train: a run's folder says all that is needed.
#include "tests/testing/environment.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

class EvaluateTest : public ProgramTest {
 protected:
  Ended Evaluate(std::vector<std::string> arguments) const {
    return Program("tools/evaluate/evaluate", arguments, scratch_).Wait();
  }
  // The accuracy, from 0 to 1, that the run found last.
  double LastAccuracy(const std::string& run) const {
    double last = -1;
    std::istringstream lines(ReadText(scratch_ + "/" + run + "/metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const nlohmann::json json = nlohmann::json::parse(line);
      if (json.contains("accuracy")) last = json["accuracy"];
    }
    return last;
  }
  std::string Path(const std::string& name) const { return scratch_ + "/" + name; }
};

TEST_F(EvaluateTest, ARunNamesItsModelItsDataAndTheirPlace) {
  ASSERT_EQ(Train(Small("run", {"--image-size", "16"})).status, 0);
  for (const char* init : {"run", "run/checkpoint"}) {
    const Ended ended = Evaluate({"--init", Path(init), "--json", Path("result.json")});
    ASSERT_EQ(ended.status, 0) << ended.err;
    EXPECT_NE(ended.out.find("wrote " + Path("result.json")), std::string::npos) << ended.out;
    const nlohmann::json result = Json("result.json");
    EXPECT_EQ(result["samples"], 20);
    EXPECT_EQ(result["classes"].size(), 10);
    EXPECT_NEAR(result["accuracy"].get<double>(), LastAccuracy("run"), 1e-9) << init;
  }
}

TEST_F(EvaluateTest, PredictionsAreALineForEachExample) {
  ASSERT_EQ(Train(Small("run", {"--max-steps", "1"})).status, 0);
  const Ended ended = Evaluate(
      {"--init", Path("run"), "--json", Path("result.json"), "--predictions", Path("each.jsonl")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  std::istringstream lines(ReadText(Path("each.jsonl")));
  int examples = 0, right = 0;
  for (std::string text; std::getline(lines, text); ++examples) {
    const nlohmann::json line = nlohmann::json::parse(text);
    EXPECT_EQ(line["example"], examples);
    EXPECT_GE(line["probability"], 0.1);
    right += line["class"] == line["predicted"];
  }
  EXPECT_EQ(examples, 20);
  EXPECT_EQ(Json("result.json")["accuracy"], right / 20.0);
}

TEST_F(EvaluateTest, FlagsOverrideWhatTheRunSays) {
  ASSERT_EQ(Train(Small("run", {"--max-steps", "1"})).status, 0);
  ExpectOneLine(Evaluate({"--init", Path("run"), "--data-dir", "/nowhere"}), 2, "/nowhere");
  ExpectOneLine(Evaluate({"--init", Path("run"), "--length", "5"}), 2,
                "--length applies to sentences and long texts only, not to images");
  ExpectOneLine(Evaluate({"--init", Path("run"), "--model", "resnet20"}), 2,
                "got resnet20; did you mean cifar_resnet20?");
}

TEST_F(EvaluateTest, ACheckpointPutElsewhereIsWeights) {
  ASSERT_EQ(Train(Small("run", {"--max-steps", "1"})).status, 0);
  std::filesystem::copy(Path("run/checkpoint"), Path("mine"));
  ExpectOneLine(Evaluate({"--init", Path("mine")}), 2, "--data is required");
  EXPECT_EQ(Evaluate({"--init", Path("mine"), "--data", "fashion-mnist", "--data-dir", Path("data"),
                      "--model", "mobilenet_v2:0.1"})
                .status,
            0);
}

// Of weights that name no data's place.
TEST_F(EvaluateTest, DataAreBelowTheCommonFolder) {
  ASSERT_EQ(Train(Small("run", {"--max-steps", "1"})).status, 0);
  std::filesystem::copy(Path("run/checkpoint"), Path("mine"));
  std::filesystem::create_directories(Path("common"));
  std::filesystem::rename(Path("data"), Path("common/fashion-mnist"));
  const torus::testing::EnvironmentVariable common("TORUS_DATA", Path("common"));
  const Ended ended = Evaluate({"--init", Path("mine"), "--data", "fashion-mnist", "--model",
                                "mobilenet_v2:0.1", "--json", Path("result.json")});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(Json("result.json")["samples"], 20) << "not those below the folder";
}

TEST_F(EvaluateTest, OtherWeightsNeedTheirData) {
  std::ofstream(Path("w.safetensors")) << "x";
  ExpectOneLine(Evaluate({"--init", Path("w.safetensors")}), 2, "--data is required");
  ExpectOneLine(Evaluate({"--init", Path("w.safetensors"), "--data", "cifar"}), 2,
                "got cifar; did you mean cifar10 or cifar100?");
}

TEST_F(EvaluateTest, KeepsToItsThreadsAndItsMemoryLimit) {
  ASSERT_EQ(Train(Small("run", {"--max-steps", "1"})).status, 0);
  const Ended all = Evaluate({"--init", Path("run")});
  const Ended one = Evaluate({"--init", Path("run"), "--threads", "1", "--memory-limit", "1GB"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.out.substr(0, one.out.find("loss")), all.out.substr(0, all.out.find("loss")));
  ExpectOneLine(Evaluate({"--init", Path("run"), "--memory-limit", "2MB"}), 1, "2");
  // Their stacks do not fit into 4 GiB of addresses, in which all else does.
  const auto in_4_gib = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--init", Path("run")});
    return Program("tools/evaluate/evaluate", more, scratch_, size_t{4} << 30).Wait();
  };
  EXPECT_EQ(in_4_gib({}).status, 0);
  ExpectOneLine(in_4_gib({"--threads", "4096"}), 1, "cannot start a team of 4096 threads");
}

}  // namespace
}  // namespace torus::tools::testing
