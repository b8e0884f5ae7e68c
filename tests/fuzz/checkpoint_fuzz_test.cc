// Checkpoints: torch.save's two formats, folders of Hugging Face, and those of our own runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/torch_file.h"
#include "parallel/trainer/checkpoint.h"
#include "recipes/run/resumed_run.h"
#include "runtime/io/safetensors.h"
#include "tests/fuzz/fuzz.h"

namespace torus::fuzz {
namespace {

TEST(Fuzz, TorchFiles) {
  RunFuzz({.name = "torch file",
           .seeds = {FileBytes("tests/golden/zip.pth"), FileBytes("tests/golden/legacy.pth")},
           .read =
               [](const Bytes& bytes) {
                 ReadTorchBytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "x");
               },
           .inputs = 6000});
}

std::string NewFolder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

void Overwrite(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

TEST(Fuzz, HuggingFaceIndex) {
  const std::string folder = NewFolder("hugging_face");
  WriteSafetensors(folder + "/a.safetensors", {{"w", Arange(4, DType::kF32)}});
  Overwrite(folder + "/config.json", BytesOf(R"({"model_type": "gpt2"})"));
  RunFuzz({.name = "model.safetensors.index.json",
           .seeds = {BytesOf(R"({"metadata": {"total_size": 16},
                                 "weight_map": {"w": "a.safetensors"}})"),
                     BytesOf(R"({"weight_map": {"w": "a.safetensors"}})")},
           .read =
               [&](const Bytes& bytes) {
                 Overwrite(folder + "/model.safetensors.index.json", bytes);
                 ReadHuggingFace(folder);
               },
           .inputs = 1000});
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
  const Bytes seed = FileBytes(path);
  RunFuzz({.name = file,
           .seeds = {seed, seed},
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
