// Checkpoints of other programs: torch.save's two formats, and folders of Hugging Face.
#include <gtest/gtest.h>

#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/state_dict.h"
#include "models/checkpoint/torch_file.h"
#include "models/checkpoint/weights_part.h"
#include "runtime/io/safetensors.h"
#include "tests/fuzz/fuzz.h"
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

}  // namespace
}  // namespace torus::fuzz
