// The optimizers against PyTorch: the cases optimizer.* of TORUS_CASES.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "parallel/optim/adam.h"
#include "parallel/optim/sgd.h"
#include "runtime/io/safetensors.h"
#include "tests/testing/tolerance.h"

namespace torus::parallel {
namespace {

using nlohmann::json;

std::vector<std::filesystem::path> Cases(const std::string& prefix) {
  std::vector<std::filesystem::path> found;
  const char* folder = std::getenv("TORUS_CASES");
  if (folder == nullptr || !std::filesystem::is_directory(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  return found;
}

Tensor Find(const SafetensorsFile& file, const std::string& name) {
  for (const NamedTensor& tensor : file.tensors)
    if (tensor.name == name) return tensor.value;
  ADD_FAILURE() << "no tensor " << name;
  return {};
}

using Make = std::function<std::unique_ptr<Optimizer>(const NamedVariable&, const json&)>;
using Compare = std::function<void(const Tensor& got, const Tensor& want, int64_t step)>;

// Every step of each case, from PyTorch's gradients.
void RunCases(const std::string& prefix, const Make& make, const Compare& compare) {
  const std::vector<std::filesystem::path> cases = Cases(prefix);
  if (cases.empty()) GTEST_SKIP() << "TORUS_CASES names no folder with " << prefix << "*";
  for (const std::filesystem::path& path : cases) {
    SCOPED_TRACE(path.filename().string());
    const SafetensorsFile file = ReadSafetensors(path.string());
    const json what = json::parse(file.metadata.at("case"));
    const json& options = what.at("optimizer");
    Variable p(Find(file, "param.p").Clone(), true);
    const std::unique_ptr<Optimizer> optimizer = make({"p", p}, options);
    const Tensor gradients = Find(file, "grad.p"), expected = Find(file, "out.p");
    for (int64_t step = 0; step < what.at("steps"); ++step) {
      p.SetGrad(gradients.Select(0, step));
      optimizer->Step(options.at("lr"));
      compare(p.data(), expected.Select(0, step).Contiguous(), step);
    }
  }
}

// Each step rounds nine times on either side, values of the parameter's size; its steps are
// smaller.
void ExpectNear(const Tensor& got, const Tensor& want, int64_t step) {
  const std::vector<float> g = ToVector<float>(got), w = ToVector<float>(want);
  double largest = 0;
  for (float v : w) largest = std::fmax(largest, std::fabs(v));
  for (size_t i = 0; i < w.size(); ++i)
    EXPECT_NEAR(g[i], w[i], testing::Tolerance(DType::kF32, 9 * (step + 1), largest))
        << "step " << step << ", element " << i;
}

TEST(Cases, AdamGivesPyTorchsParameters) {
  const auto adam = [](const NamedVariable& p, const json& o) {
    const AdamOptions options{.beta1 = o.at("betas").at(0),
                              .beta2 = o.at("betas").at(1),
                              .eps = o.at("eps"),
                              .weight_decay = o.at("weight_decay"),
                              .decoupled_decay = o.at("name") == "adamw"};
    return std::make_unique<Adam>(std::vector{p}, options);
  };
  RunCases("optimizer.adam", adam, ExpectNear);
}

// The kernel rounds where PyTorch's does, so every step must give its very bits.
TEST(Cases, SgdGivesPyTorchsBits) {
  const auto sgd = [](const NamedVariable& p, const json& o) {
    const SgdOptions options{.momentum = o.at("momentum"),
                             .dampening = o.at("dampening"),
                             .weight_decay = o.at("weight_decay"),
                             .nesterov = o.at("nesterov")};
    return std::make_unique<Sgd>(std::vector{p}, options);
  };
  RunCases("optimizer.sgd.", sgd, [](const Tensor& got, const Tensor& want, int64_t step) {
    EXPECT_EQ(ToVector<float>(got), ToVector<float>(want)) << "step " << step;
  });
}

}  // namespace
}  // namespace torus::parallel
