// The example that fine-tunes, from weights of 1000 classes to a folder of two.
#include "models/checkpoint/state_dict.h"
#include "models/resnet/resnet.h"
#include "runtime/io/checkpoint_reader.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

class FineTune : public ProgramTest {
 protected:
  // Images of 16 x 16 whose brightness is their class.
  void WriteClass(const std::string& split, const std::string& name, char value, int count) const {
    const std::string folder = scratch_ + "/images/" + split + "/" + name;
    std::filesystem::create_directories(folder);
    for (int i = 0; i < count; ++i)
      std::ofstream(folder + "/" + std::to_string(i) + ".ppm", std::ios::binary)
          << "P6\n16 16\n255\n"
          << std::string(16 * 16 * 3, static_cast<char>(value + i));
  }
};

TEST_F(FineTune, AResNetOfTorchvisionsOnAnImageFolder) {
  const auto published = ResNet({.depth = 18, .num_classes = 1000});
  published->Initialize(/*seed=*/3);
  WriteSafetensors(scratch_ + "/resnet18.safetensors", StateDict(*published), {{"format", "pt"}});
  for (const char* split : {"train", "test"}) {
    WriteClass(split, "dark", 20, 6);
    WriteClass(split, "light", 100, 6);
  }
  const Ended ended =
      Program("tools/examples/fine_tune_resnet",
              {scratch_ + "/resnet18.safetensors", scratch_ + "/images", scratch_ + "/run"},
              scratch_)
          .Wait();
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("fc.weight (1000, 512)"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("accuracy"), std::string::npos) << ended.out;
  const nlohmann::json summary = Json("run/summary.json");
  EXPECT_EQ(summary["test"]["samples"], 12);
  EXPECT_EQ(summary["steps"], 6);
  for (const NamedTensor& tensor :
       io::CheckpointReader(scratch_ + "/run/checkpoint").ReadAll(io::kWeights)) {
    if (tensor.name == "fc.weight") {
      EXPECT_EQ(tensor.value.shape(), (Shape{2, 512}));
    }
  }
}

}  // namespace
}  // namespace torus::tools::testing
