// Runs whose optimizer keeps its state in bf16 or in 8 bits.
#include <gtest/gtest.h>

#include <filesystem>

#include "recipes/run/make_optimizer.h"
#include "recipes/run/resumed_run.h"
#include "recipes/run/run.h"
#include "runtime/error.h"
#include "tests/recipes/run/resumed.h"
#include "tests/recipes/small_text.h"
#include "tests/testing/checkpoint_bytes.h"
#include "tests/testing/error_of.h"

namespace torus::recipes {
namespace {

// Of a small text, by AdamW on two replicas.
RunOptions OptionsOf(const std::string& state, const std::string& strategy) {
  const std::string folder = ::testing::TempDir() + "/optimizer_state";
  std::filesystem::create_directories(folder);
  testing::WriteLetters(folder + "/text.txt", 400);
  RunOptions options{.settings = {}, .out = folder + "/" + state + "_" + strategy, .max_steps = 4};
  std::filesystem::remove_all(options.out);
  Settings& s = options.settings;
  s.model = "gpt-char:1";
  s.data = "text";
  s.data_dir = folder + "/text.txt";
  s.tokenizer = "bytes";
  s.length = 8;
  s.epoch_size = 16;
  s.batch_size = 4;
  s.micro_batches = 1;
  s.replicas = s.threads = 2;
  s.strategy = strategy;
  s.collectives = "direct";
  s.optimizer = "adamw";
  s.optimizer_state = state;
  s.lr = 0.01;
  return options;
}

std::string Saved(const RunOptions& options) {
  return torus::testing::CheckpointBytes(options.out + "/checkpoint");
}

// Neither who holds which slice of a weight, nor a stop in between, changes any bits.
TEST(OptimizerState, IsTheSameHoweverReplicasShareItAndWhenResumed) {
  for (const char* const state : {"bf16", "8bit"}) {
    const RunOptions whole = OptionsOf(state, "ddp");
    recipes::Run(whole);
    for (const char* const strategy : {"zero1", "fsdp"}) {
      SCOPED_TRACE(fmt::format("{} by {}", state, strategy));
      RunOptions part = OptionsOf(state, strategy);
      part.max_steps = 2;
      recipes::Run(part);
      RunOptions rest = testing::Resumed(part);
      rest.max_steps = 4;
      recipes::Run(rest);
      EXPECT_TRUE(Saved(whole) == Saved(part));
    }
    for (const NamedTensor& tensor : LoadRun(whole.out).checkpoint->ReadAll(io::kOptimizer))
      EXPECT_EQ(tensor.value.dtype(), state == std::string("bf16") && tensor.value.rank() > 0
                                          ? DType::kBF16
                                          : DType::kF32)
          << tensor.name;
  }
}

// Settings that no run has checked, too.
TEST(OptimizerState, OfAnUnknownNameIsRefused) {
  Settings settings;
  settings.optimizer = "adamw";
  settings.optimizer_state = "8bits";
  const std::string says = torus::testing::ErrorOf([&] { MakeOptimizer(settings, {}); });
  EXPECT_EQ(says,
            "[train] --optimizer-state must be one of f32, bf16, 8bit, got 8bits; did you "
            "mean 8bit?");
}

TEST(OptimizerState, InEightBitsNeedsWholeWeights) {
  RunOptions options = OptionsOf("8bit", "ddp");
  options.settings.tensor = 2;
  const std::string says = torus::testing::ErrorOf([&] { recipes::Run(options); });
  EXPECT_NE(says.find("--optimizer-state 8bit quantizes blocks of whole weights"), says.npos)
      << says;
}

}  // namespace
}  // namespace torus::recipes
