// Checkpoints of our own runs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "parallel/trainer/checkpoint.h"
#include "recipes/run/resumed_run.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/without_sums.h"

namespace torus::fuzz {
namespace {

// Makes it the run of an older version, without the checksums by which damage is found before
// anything else looks at it.
void RemoveSums(const recipes::RunFolder& run) {
  for (const char* file : {"weights-0.safetensors", "optimizer-0.safetensors"}) {
    const std::string path = run.checkpoint() + "/" + file;
    Overwrite(path, WithoutSums(FileBytes(path)));
  }
  const std::string path = run.checkpoint() + "/checkpoint.json";
  const Bytes bytes = FileBytes(path);
  nlohmann::json manifest = nlohmann::json::parse(bytes.begin(), bytes.end());
  manifest.erase("crc32c");
  manifest.erase("texts");
  for (nlohmann::json& each : manifest["files"]) each.erase("crc32c");
  Overwrite(path, BytesOf(manifest.dump()));
}

// A run of ours, of which one file is damaged.
void FuzzRun(const std::string& file) {
  const recipes::RunFolder run{NewFolder("run")};
  const parallel::TrainState state{.step = 7,
                                   .weights = {{"w", Arange(4, DType::kF32)}},
                                   .optimizer = {{"momentum.w", Arange(4, DType::kF32)}},
                                   .averages = {}};
  parallel::SaveCheckpoint(run.checkpoint(), state,
                           recipes::TextsOf({.settings = {}, .cuts = {{3}, {}}}));
  const std::string path = run.checkpoint() + "/" + file;
  const Bytes with_sums = FileBytes(path);
  RemoveSums(run);
  RunFuzz({.name = file,
           .seeds = {FileBytes(path), file == "checkpoint.json" ? FileBytes(path) : with_sums},
           .read =
               [&](const Bytes& bytes) {
                 Overwrite(path, bytes);
                 recipes::LoadRun(run.path).checkpoint->ReadAll(io::kOptimizer);
               },
           .inputs = 500});
}

TEST(Fuzz, SettingsOfARun) { FuzzRun("settings.json"); }
TEST(Fuzz, OptimizerOfARun) { FuzzRun("optimizer-0.safetensors"); }
TEST(Fuzz, ManifestOfARun) { FuzzRun("checkpoint.json"); }

}  // namespace
}  // namespace torus::fuzz
