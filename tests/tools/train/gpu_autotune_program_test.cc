// train --autotune, and --resume behind it, in this process, so that a test's proposals can be
// timed. Needs --config=emulated_gpu.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ops/cuda/proposal_stand_in.h"
#include "runtime/io/json.h"
#include "runtime/on_device.h"
#include "tests/recipes/small_text.h"
#include "tools/train/train.h"

namespace torus::tools {
namespace {

namespace fs = std::filesystem;

class AutotuneProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu: NOT tested";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    recipes::testing::WriteAbcd(folder_ + "/text.txt", 200);
  }
  // The plans in the run's summary.
  nlohmann::json Train(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), "train");
    std::vector<const char*> arguments;
    for (const std::string& flag : flags) arguments.push_back(flag.c_str());
    EXPECT_EQ(TrainMain(static_cast<int>(arguments.size()), arguments.data()), 0);
    return io::ReadJsonObject(folder_ + "/run/summary.json")["plans"];
  }

  const std::string folder_ = ::testing::TempDir() + "/autotune_program";
  const cuda::ProposalStandIn stand_in_{cuda::FakeProposals{
      .count = 2,
      .seconds = [](const std::string&, int64_t i) { return 2.0 - static_cast<double>(i); }}};
};

TEST_F(AutotuneProgram, WritesItsChoicesAndTakesThemWhenItResumes) {
  const nlohmann::json first = Train({"--preset",
                                      "gpt-char-shakespeare",
                                      "--model",
                                      "gpt-char:1",
                                      "--data-dir",
                                      folder_ + "/text.txt",
                                      "--length",
                                      "8",
                                      "--epoch-size",
                                      "32",
                                      "--batch-size",
                                      "4",
                                      "--warmup",
                                      "1",
                                      "--device",
                                      "cuda",
                                      "--autotune",
                                      "--max-steps",
                                      "2",
                                      "--out",
                                      folder_ + "/run"});
  EXPECT_GT(first["timed"], 0);
  EXPECT_TRUE(fs::exists(folder_ + "/run/plans-0.json"));
  const nlohmann::json second = Train({"--resume", folder_ + "/run", "--max-steps", "4"});
  EXPECT_EQ(second["timed"], 0);
  EXPECT_GT(second["known"], 0);
  const nlohmann::json third =
      Train({"--resume", folder_ + "/run", "--max-steps", "6", "--no-autotune", "--plans", "none"});
  EXPECT_EQ(third["timed"], 0);
  EXPECT_EQ(third["known"], 0);
}

}  // namespace
}  // namespace torus::tools
