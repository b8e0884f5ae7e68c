// All cases of TORUS_CASES: none fails, and those of the families that are built pass.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "runtime/kernels.h"
#include "runtime/parallel_for.h"
#include "runtime/stream.h"
#include "tools/replay/replay.h"
#include "tools/replay/run_model.h"

namespace torus::replay {
namespace {

std::string Family(const std::string& line) {
  const size_t begin = line.find_first_not_of(' ', line.find(' '));
  const std::string name = line.substr(begin, line.find(':') - begin);
  const size_t dot = name.find_last_of('.');
  return std::isdigit(static_cast<unsigned char>(name[dot + 1])) ? name.substr(0, dot) : name;
}

// A CPU, and a GPU where there is one.
std::vector<Device> Devices() {
  if (GpuCount() == 0) return {Device{}};
  return {Device{}, {DeviceKind::kCuda, 0}};
}

void ExpectAllPass(const std::string& folder, Device device) {
  std::stringstream out;
  const Totals totals = Replay(FindCases({folder}), device, out);
  EXPECT_EQ(totals.failed, 0) << out.str();
  std::set<std::string> passed;
  for (std::string line; std::getline(out, line);)
    if (line.starts_with("pass")) passed.insert(Family(line));
  for (const char* family : {"add",
                             "sub",
                             "mul",
                             "div",
                             "matmul",
                             "linear",
                             "conv2d",
                             "batch_norm",
                             "relu",
                             "relu6",
                             "hardtanh",
                             "max_pool2d",
                             "avg_pool2d",
                             "adaptive_avg_pool2d",
                             "flatten",
                             "reshape",
                             "transpose",
                             "permute",
                             "cat",
                             "narrow",
                             "sum",
                             "mean",
                             "softmax",
                             "log_softmax",
                             "cross_entropy",
                             "nll_loss",
                             "model.mobilenet_v2",
                             "train.mobilenet_v2.sgd",
                             "optimizer.sgd"})
    EXPECT_TRUE(passed.contains(family)) << family;
}

TEST(Cases, NoneFailsAndTheBuiltFamiliesPass) {
  const char* folder = std::getenv("TORUS_CASES");
  if (folder == nullptr || !std::filesystem::exists(folder))
    GTEST_SKIP() << "TORUS_CASES names no folder";
  SetTeamSize(1);  // cases are small: on a busy machine a team would mostly wait for each other
  for (const Device device : Devices()) {
    SCOPED_TRACE(ToString(device));
    ExpectAllPass(folder, device);
  }
}

// Kinks may move each gradient of this model by more than one percent, but not all of them alike.
TEST(Cases, AllGradientsScaledByOnePercentFail) {
  const char* folder = std::getenv("TORUS_CASES");
  const std::string path = fmt::format("{}/model.mobilenet_v2.safetensors", folder ? folder : "");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "TORUS_CASES has no MobileNetV2";
  SetTeamSize(1);
  Case c = ReadCase(path);
  for (auto& [name, tensor] : c.tensors)
    if (name.starts_with("grad_param.")) ScaleInPlace(tensor = tensor.Clone(), 1.01);
  const Comparison result = RunModel(c);
  EXPECT_FALSE(result.passed()) << result.Summary();
}

}  // namespace
}  // namespace torus::replay
