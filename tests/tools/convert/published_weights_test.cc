// Weights as they were published: from torch.save, of a model in torch.nn.DataParallel.
#include <cstdlib>

#include "models/build_model.h"
#include "models/checkpoint/state_dict.h"
#include "runtime/io/safetensors.h"
#include "tests/testing/program.h"
#include "tests/tools/convert/same_tensors.h"

namespace torus::tools::testing {
namespace {

namespace fs = std::filesystem;

TEST_F(ProgramTest, PublishedResNet20IsMappedToTheModelsNames) {
  const char* data = std::getenv("TORUS_DATA");
  const fs::path folder = fs::path(data == nullptr ? "" : data) / "weights/resnet_cifar10";
  if (data == nullptr || !fs::exists(folder)) GTEST_SKIP() << "TORUS_DATA has no resnet_cifar10";
  const std::string out = scratch_ + "/out.safetensors";
  const Ended ended = Program("tools/convert/convert",
                              {(folder / "resnet20-12fca82f.th").string(), out, "--model",
                               "cifar_resnet20", "--classes", "10"},
                              scratch_)
                          .Wait();
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("module.conv1.weight -> conv1.weight\n"), std::string::npos);
  const auto state = [](const std::string& weights) {
    return ByName(StateDict(*BuildModel(ParseModelSpec("cifar_resnet20"), 10, 0, weights)));
  };
  const TensorMap want = state((folder / "resnet20-12fca82f.safetensors").string());
  ExpectSame(ByName(ReadSafetensors(out).tensors), want);
  ExpectSame(state(out), want);
}

}  // namespace
}  // namespace torus::tools::testing
