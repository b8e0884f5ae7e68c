// Runs of --tensor: what they leave is whole, so anything goes on with it.
#include <cstdlib>
#include <set>

#include "tests/parallel/transport/mpi/under_mpirun.h"
#include "tests/testing/program.h"
#include "tests/testing/tolerance.h"

namespace torus::tools::testing {
namespace {

class TensorRun : public ProgramTest {
 protected:
  // Of a character GPT with one block, on a short text; six steps unless `more` says otherwise.
  std::vector<std::string> Gpt(const std::string& out, const std::vector<std::string>& more) const {
    std::ofstream text(scratch_ + "/text.txt");
    for (int i = 0; i < 400; ++i) text << "the quick brown fox " << i;
    std::vector<std::string> flags{"--model",         "gpt-char:1",
                                   "--data",          "text",
                                   "--data-dir",      scratch_ + "/text.txt",
                                   "--length",        "8",
                                   "--epoch-size",    "80",
                                   "--batch-size",    "8",
                                   "--micro-batches", "2",
                                   "--epochs",        "1",
                                   "--clip-norm",     "0.5",
                                   "--out",           scratch_ + "/" + out};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  auto ModelBytes(const std::string& run) const {
    return std::filesystem::file_size(scratch_ + "/" + run + "/model/model.safetensors");
  }
};

TEST_F(TensorRun, LeavesWhatARunOfOneRankDoes) {
  const Ended two = Train(Gpt("two", {"--tensor", "2", "--max-steps", "6"}));
  ASSERT_EQ(two.status, 0) << two.err;
  ASSERT_EQ(Train(Gpt("one", {"--max-steps", "6"})).status, 0);
  EXPECT_NE(two.out.find("x 2 tensor-parallel ranks"), std::string::npos) << two.out;
  const std::vector<double> losses = Losses("two"), want = Losses("one");
  ASSERT_EQ(losses.size(), 6u);
  // Sums of one forward over the width of the MLP, in f32, of a loss of about log 256.
  EXPECT_NEAR(losses[0], want[0], 2 * torus::testing::Tolerance(DType::kF32, 4 * 512, want[0]));
  EXPECT_EQ(ModelBytes("two"), ModelBytes("one"));
  EXPECT_EQ(Tensors("two").size(), Tensors("one").size());
  const nlohmann::json summary = Json("two/summary.json");
  EXPECT_EQ(summary["settings"]["tensor"], 2);
  ASSERT_EQ(summary["ranks"].size(), 2u);
  EXPECT_EQ(summary["ranks"][1]["tensor_rank"], 1);
  EXPECT_EQ(summary["ranks"][1]["replica"], 0);
  ASSERT_EQ(summary["links"].size(), 2u);
  for (const nlohmann::json& link : summary["links"]) EXPECT_EQ(link["what"], "tensor-parallel");
}

TEST_F(TensorRun, GoesOnWithAnyNumberOfRanks) {
  ASSERT_EQ(Train(Gpt("run", {"--tensor", "2", "--max-steps", "2"})).status, 0);
  const std::string run = scratch_ + "/run";
  int64_t steps = 2;
  const std::vector<std::vector<std::string>> layouts{
      {"--tensor", "4"},
      {"--tensor", "1"},
      {"--tensor", "2", "--stages", "2"},
      {"--tensor", "2", "--stages", "1", "--replicas", "2"}};
  for (const std::vector<std::string>& layout : layouts) {
    std::vector<std::string> flags{"--resume", run, "--max-steps", std::to_string(++steps)};
    flags.insert(flags.end(), layout.begin(), layout.end());
    const Ended more = Train(flags);
    ASSERT_EQ(more.status, 0) << more.err;
    EXPECT_EQ(Json("run/summary.json")["steps"], steps);
    EXPECT_EQ(std::to_string(Json("run/summary.json")["settings"]["tensor"].get<int>()), layout[1]);
  }
  const Ended test = Train({"--resume", run, "--tensor", "2", "--eval-only"});
  ASSERT_EQ(test.status, 0) << test.err;
  const Ended alone = Train({"--resume", run, "--tensor", "1", "--replicas", "1", "--eval-only"});
  ASSERT_EQ(alone.status, 0) << alone.err;
}

TEST_F(TensorRun, GivesTheSameBitsInProcesses) {
  setenv("TMPDIR", "/tmp", 1);  // the names of mpirun's sockets must be short
  const std::vector<std::string> layout{"--tensor",  "2", "--stages",    "2",
                                        "--threads", "4", "--max-steps", "3"};
  const Ended threads = Train(Gpt("threads", layout));
  ASSERT_EQ(threads.status, 0) << threads.err;
  std::vector<std::string> flags = Gpt("mpi", layout);
  flags.insert(flags.begin(), "tools/train/train");
  const Ended mpi = Program("/usr/bin/env", parallel::MpirunCommand(4, flags), scratch_).Wait();
  ASSERT_EQ(mpi.status, 0) << mpi.err;
  EXPECT_EQ(Losses("mpi"), Losses("threads"));
  EXPECT_EQ(Tensors("mpi"), Tensors("threads"));
  EXPECT_EQ(Json("mpi/summary.json")["links"], Json("threads/summary.json")["links"]);
}

// Of two slices in two stages: what crosses the cut in shares, or from both slices.
TEST_F(TensorRun, SendsHalfOfACutFromEachSliceBehindACodecToo) {
  const std::vector<std::string> layout{"--tensor", "2",       "--stages",    "2",
                                        "--codec",  "sortq:8", "--max-steps", "3"};
  const Ended shared = Train(Gpt("shared", layout));
  ASSERT_EQ(shared.status, 0) << shared.err;
  std::vector<std::string> flags = layout;
  flags.insert(flags.end(), {"--tensor-cuts", "whole"});
  ASSERT_EQ(Train(Gpt("whole", flags)).status, 0);
  EXPECT_EQ(Losses("shared"), Losses("whole"));
  EXPECT_EQ(Tensors("shared"), Tensors("whole"));
  const auto crossed = [this](const std::string& run) {
    const nlohmann::json summary = Json(run + "/summary.json");
    int64_t bytes = 0;
    for (const nlohmann::json& link : summary["links"])
      if (link["what"] == "activations" || link["what"] == "gradients")
        bytes += link["sent_bytes"].get<int64_t>();
    return bytes;
  };
  EXPECT_GT(crossed("shared"), 0);
  EXPECT_EQ(2 * crossed("shared"), crossed("whole"));
}

TEST_F(TensorRun, RefusesWhatCannotBeSplit) {
  ExpectOneLine(
      Train(Small("images", {"--tensor", "2"})), 2,
      "--tensor 2 splits the blocks of RoBERTa, GPT and Llama, got --model mobilenet_v2:0.1");
  ExpectOneLine(Train(Gpt("heads", {"--tensor", "3"})), 2,
                "3 tensor-parallel ranks (--tensor) must divide its heads, got 4");
  ExpectOneLine(Train(Gpt("none", {"--tensor", "0"})), 2, "--tensor must be from 1 to 1024, got 0");
  ExpectOneLine(Train(Gpt("auto", {"--tensor", "2", "--stages", "2", "--cut", "auto"})), 2,
                "--cut auto measures whole layers; with --tensor 2 give the cuts");
  ExpectOneLine(Train(Gpt("cuts", {"--tensor", "2", "--tensor-cuts", "half"})), 2,
                "--tensor-cuts must be one of shared, whole, got half");
}

}  // namespace
}  // namespace torus::tools::testing
