// One call that evaluates weights: what it refuses, and that its figures are those of the run that
// trained them.
#include "recipes/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "recipes/run/run.h"
#include "runtime/error.h"
#include "tests/recipes/small_data.h"
#include "tests/testing/tolerance.h"

namespace torus::recipes {
namespace {

std::string Refusal(const EvaluateOptions& options) {
  try {
    Evaluate(options);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "none";
}

// A file that is there, and is read last.
std::string Weights() {
  const std::string path = ::testing::TempDir() + "w.safetensors";
  std::ofstream(path) << "x";
  return path;
}

TEST(Evaluate, SaysThatThereAreNoWeights) {
  const std::string says = "[evaluate] --init runs/none: there is no such file or folder";
  EXPECT_EQ(Refusal({.init = "runs/none"}), says);
  EXPECT_EQ(Refusal({.init = "runs/none", .data = "cifar10"}), says);
  EXPECT_EQ(Refusal({.init = "runs/none", .data = "text", .data_dir = "x"}), says);
}

// Before any data are read.
TEST(Evaluate, RefusesWhatIsMissingOrOutOfRange) {
  EXPECT_EQ(Refusal({.model = "resnet18", .data_dir = "/nowhere"}),
            "[evaluate] needs weights: --init FILE, RUN, or a folder of Hugging Face's");
  EXPECT_EQ(
      Refusal({.model = "resnet18", .init = Weights()})
          .find("[evaluate] --data is required, since " + Weights() + " does not say what it "),
      0);
  EXPECT_EQ(Refusal({.init = Weights(), .data = "cifar10"}),
            "[evaluate] --model is required for images: " + Weights() +
                " does not name its model, as the folder of a run does");
  EXPECT_EQ(Refusal({.model = "resnet18", .init = Weights(), .data = "cifar10", .batch = -1}),
            "[evaluate] --batch-size must not be negative, got -1");
  EXPECT_EQ(Refusal({.model = "resnet18", .init = Weights(), .data = "cifar10", .length = -2}),
            "[evaluate] --length must not be negative, got -2");
}

TEST(Evaluate, RefusesWhatDoesNotFitTogether) {
  const auto expect = [](const EvaluateOptions& options, const std::string& says) {
    const std::string message = Refusal(options);
    EXPECT_NE(message.find(says), std::string::npos) << "no \"" << says << "\" in " << message;
  };
  expect({.model = "gpt2", .init = Weights(), .data = "cifar10"}, "--model gpt2 takes no images");
  expect({.model = "resnet18", .init = Weights(), .data = "cifar10", .split = "all"},
         "--split must be train or test for --data cifar10, got all");
  expect({.init = Weights(), .data = "text"}, "--data text needs --data-dir");
  expect({.init = Weights(), .data = "text", .data_dir = "x"}, "needs --model");
  expect({.model = "resnet18", .init = Weights(), .data = "cifar10", .precision = "f8"},
         "--precision");
}

TEST(Evaluate, HasTheFiguresOfTheRun) {
  const std::string folder = ::testing::TempDir() + "/evaluated";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  testing::WriteImages(folder, "train", 90);
  testing::WriteImages(folder, "t10k", 20);
  RunOptions options{.out = folder + "/run", .max_steps = 3};
  options.settings.model = "mobilenet_v2:0.1";
  options.settings.data_dir = folder;
  options.settings.batch_size = 30;
  options.settings.micro_batches = 1;
  options.settings.threads = 1;
  const RunResult run = recipes::Run(options);
  EvaluateOptions evaluated{.model = "mobilenet_v2:0.1",
                            .init = folder + "/run/checkpoint",
                            .data = "fashion-mnist",
                            .data_dir = folder,
                            .batch = 7};
  const EvaluateResult test = Evaluate(evaluated);
  ASSERT_TRUE(test.classes.has_value());
  EXPECT_EQ(test.classes->counts.total(), 20);
  EXPECT_EQ(static_cast<double>(test.classes->counts.correct()) / 20, *run.test->accuracy);
  // Sums over the inputs of some fifty layers, of 1280 channels at most.
  EXPECT_NEAR(test.classes->loss, run.test->loss,
              torus::testing::Tolerance(DType::kF32, 50 * 1280, run.test->loss));
  EXPECT_EQ(test.warning, "");
  EXPECT_TRUE(test.left_out.empty());
  evaluated.split = "train";
  EXPECT_EQ(Evaluate(evaluated).classes->counts.total(), 90);
}

}  // namespace
}  // namespace torus::recipes
