// Where the program finds what it is not told: data below TORUS_DATA, paths from where the user
// stands, runs by their folder.
#include "tests/testing/environment.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

namespace fs = std::filesystem;

using torus::testing::EnvironmentVariable;

class PlacesTest : public ProgramTest {};

TEST_F(PlacesTest, DataAreBelowTheCommonFolder) {
  fs::create_directories(scratch_ + "/common");
  fs::rename(scratch_ + "/data", scratch_ + "/common/fashion-mnist");
  const EnvironmentVariable common("TORUS_DATA", scratch_ + "/common");
  const Ended ended = Train({"--model", "mobilenet_v2:0.1", "--out", scratch_ + "/run",
                             "--batch-size", "24", "--micro-batches", "2", "--max-steps", "1"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(Json("run/summary.json")["settings"]["data-dir"], scratch_ + "/common/fashion-mnist");
}

TEST_F(PlacesTest, AFolderIsMeantFromWhereTheUserStands) {
  ASSERT_EQ(Train(Small("run", {"--max-steps", "1"})).status, 0);
  const EnvironmentVariable here("TORUS_WORKING_DIRECTORY", scratch_ + "/run");
  const Ended ended = Train({"--resume", "checkpoint", "--max-steps", "2"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(Losses("run").size(), 2);
}

TEST_F(PlacesTest, ARunWithoutACheckpointIsARun) {
  fs::create_directories(scratch_ + "/run");
  std::ofstream(scratch_ + "/run/metrics.jsonl") << "{}\n";
  ExpectOneLine(Train({"--resume", scratch_ + "/run"}), 2,
                "is a run that has no checkpoint yet: begin it anew with the same --out");
  ExpectOneLine(Train({"--resume", scratch_ + "/data"}), 2,
                "must be the folder of a run or its checkpoint, got neither");
}

TEST_F(PlacesTest, WhatIsMissingIsSaidAndNotWhatWasNotGiven) {
  ExpectOneLine(Train({"--model", "roberta"}), 2,
                "--model roberta learns from sentences, and --data is not given: one of rte, cola");
  ExpectOneLine(Train({"--model", "gpt-char"}), 2, "--data is not given: one of text");
  EXPECT_EQ(Train({"--model", "gpt-char", "--describe"}).status, 0);
}

TEST_F(PlacesTest, AWarmupAsLongAsTheRunIsRefused) {
  ExpectOneLine(Train(Small("run", {"--warmup", "9"})), 2,
                "--warmup must be shorter than the run of 8 steps, got 9");
}

TEST_F(PlacesTest, AFileIsNoFolderForARun) {
  std::ofstream(scratch_ + "/file") << "mine";
  ExpectOneLine(Train(Small("file")), 2, "--out " + scratch_ + "/file");
  EXPECT_EQ(ReadText(scratch_ + "/file"), "mine");
}

}  // namespace
}  // namespace torus::tools::testing
