// Checkpoints: torch.save's two formats, folders of Hugging Face, and those of our own runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/state_dict.h"
#include "models/checkpoint/torch_file.h"
#include "models/checkpoint/weights_part.h"
#include "parallel/trainer/checkpoint.h"
#include "recipes/run/resumed_run.h"
#include "runtime/io/safetensors.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/without_sums.h"
#include "tests/models/checkpoint/small_net.h"

namespace torus::fuzz {
namespace {

std::vector<Bytes> TorchSeeds() {
  std::vector<Bytes> seeds;
  for (const char* file :
       {"zip", "legacy", "checkpoints/imagenet_parallel", "checkpoints/torchvision_ema",
        "checkpoints/torchvision_ema_legacy", "checkpoints/lightning", "checkpoints/beside",
        "checkpoints/beside_legacy", "checkpoints/beside_protocol1", "checkpoints/beside_protocol4",
        "checkpoints/averaged_nested", "checkpoints/expanded", "checkpoints/narrow",
        "checkpoints/parameters", "checkpoints/whole_model_in_dict", "checkpoints/half"})
    seeds.push_back(FileBytes(std::string("tests/golden/") + file + ".pth"));
  return seeds;
}

// Loads the part that fits a model best. Some of the seeds are of other models.
void LoadFrom(const FileWeights& weights) {
  static const auto net = torus::testing::SmallNet();
  WeightsPart part = ChoosePart(*net, weights, {}, "", "x");
  part.taken.Line("x");
  try {
    LoadStateDict(*net, FitNames(*net, std::move(part.tensors)), "x");
  } catch (const BadInput& error) {
    if (!std::string_view(error.what()).starts_with("[x] does not fit the model")) throw;
  }
}

TEST(Fuzz, TorchFiles) {
  RunFuzz({.name = "torch file",
           .seeds = TorchSeeds(),
           .read =
               [](const Bytes& bytes) {
                 TorchFile file = ReadTorchBytes(
                     {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "x");
                 const FileWeights weights{.tensors = std::move(file.tensors),
                                           .narrow = std::move(file.narrow),
                                           .inner = std::move(file.inner),
                                           .others = std::move(file.others)};
                 LoadFrom(weights);
               },
           .inputs = 12000});
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
