// The application, run as its user runs it.
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

using Application = ProgramTest;

TEST_F(Application, TrainsItsOwnModelThroughItsOwnCodecAndSchedule) {
  const Ended ended =
      Program("tests/application/application", {scratch_ + "/data", scratch_ + "/run"}, scratch_)
          .Wait();
  ASSERT_EQ(ended.status, 0) << ended.err;
  // A bright bar says the class: one hidden layer learns that in a few steps; chance is a tenth.
  EXPECT_GT(Json("run/summary.json")["test"]["accuracy"], 0.5) << ended.out;
  const nlohmann::json links = Json("run/summary.json")["links"];
  ASSERT_EQ(links.size(), 2u);
  for (const nlohmann::json& link : links)
    EXPECT_EQ(link["float32_bytes"].get<int64_t>(), 2 * link["sent_bytes"].get<int64_t>());
  EXPECT_NE(ended.out.find("step 60, 4 weights of pixels"), std::string::npos) << ended.out;
  const nlohmann::json settings = Json("run/checkpoint/settings.json")["settings"];
  EXPECT_EQ(settings["codec"], "half");
  EXPECT_EQ(settings["schedule"], "alternating");
  EXPECT_FALSE(ReadText(scratch_ + "/run/report.html").empty());
}

// Its process alone knows what "alternating" means; what it left is there for every program.
TEST_F(Application, ItsRunsAreReportedAndCompared) {
  const std::string run = scratch_ + "/run", both = scratch_ + "/both.html";
  ASSERT_EQ(
      Program("tests/application/application", {scratch_ + "/data", run}, scratch_).Wait().status,
      0);
  std::filesystem::remove(run + "/report.html");
  const auto report = [&](const std::vector<std::string>& arguments) {
    const Ended ended = Program("tools/report/report", arguments, scratch_).Wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
  };
  report({run});
  EXPECT_NE(ReadText(run + "/report.html").find("The ranks of one step, ideally"),
            std::string::npos);
  std::filesystem::remove(run + "/schedule.csv");  // as runs of before left none
  report({run});
  EXPECT_NE(ReadText(run + "/report.html").find("no schedule that can be drawn here"),
            std::string::npos);
  report({run, run, "--out", both});
  EXPECT_NE(ReadText(both).find("Pixels on Fashion-MNIST"), std::string::npos);
}

// Between stages, backward alone, inside of others, for gradients, and again on --resume.
TEST_F(Application, ItsCodecIsKnownToEveryFlag) {
  const std::string program = "tests/application/own_programs", run = scratch_ + "/run";
  const auto train = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), "train");
    return Program(program, flags, scratch_).Wait();
  };
  const Ended first =
      train(Small("run", {"--stages", "2", "--replicas", "2", "--codec", "half", "--codec-backward",
                          "ef(half)", "--codec-gradients", "topk:0.5+half", "--max-steps", "2"}));
  ASSERT_EQ(first.status, 0) << first.err;
  const nlohmann::json settings = Json("run/checkpoint/settings.json")["settings"];
  EXPECT_EQ(settings["codec"], "half");
  EXPECT_EQ(settings["codec-gradients"], "topk:0.5+half");
  const Ended resumed = train({"--resume", run, "--max-steps", "3"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  const Ended unknown = train({"--resume", run, "--codec", "whole"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("delta(CODEC), half"), std::string::npos) << unknown.err;

  const Ended measured =
      Program(program, {"codec", run + "/checkpoint/weights-0.safetensors", "--codec", "half"},
              scratch_)
          .Wait();
  EXPECT_EQ(measured.status, 0) << measured.err;
  EXPECT_NE(measured.out.find("half"), std::string::npos) << measured.out;
}

}  // namespace
}  // namespace torus::tools::testing
