// Adam and AdamW against PyTorch: the cases optimizer.adam*.* of TORUS_CASES.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "parallel/optim/adam.h"
#include "runtime/io/safetensors.h"
#include "tests/testing/tolerance.h"

namespace torus::parallel {
namespace {

std::vector<std::filesystem::path> Cases() {
  std::vector<std::filesystem::path> found;
  const char* folder = std::getenv("TORUS_CASES");
  if (folder == nullptr || !std::filesystem::is_directory(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("optimizer.adam"))
      found.push_back(entry.path());
  return found;
}

Tensor Find(const SafetensorsFile& file, const std::string& name) {
  for (const NamedTensor& tensor : file.tensors)
    if (tensor.name == name) return tensor.value;
  ADD_FAILURE() << "no tensor " << name;
  return {};
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

void RunCase(const SafetensorsFile& file) {
  const auto what = nlohmann::json::parse(file.metadata.at("case"));
  const auto& o = what.at("optimizer");
  Variable p(Find(file, "param.p").Clone(), true);
  Adam adam({{"p", p}}, {.beta1 = o.at("betas").at(0),
                         .beta2 = o.at("betas").at(1),
                         .eps = o.at("eps"),
                         .weight_decay = o.at("weight_decay"),
                         .decoupled_decay = o.at("name") == "adamw"});
  const Tensor gradients = Find(file, "grad.p"), expected = Find(file, "out.p");
  for (int64_t step = 0; step < what.at("steps"); ++step) {
    p.SetGrad(gradients.Select(0, step));
    adam.Step(o.at("lr"));
    ExpectNear(p.data(), expected.Select(0, step).Contiguous(), step);
  }
}

TEST(AdamCases, GivePyTorchsParameters) {
  const std::vector<std::filesystem::path> cases = Cases();
  if (cases.empty()) GTEST_SKIP() << "TORUS_CASES names no folder with optimizer.adam*.safetensors";
  for (const std::filesystem::path& path : cases) {
    SCOPED_TRACE(path.filename().string());
    RunCase(ReadSafetensors(path.string()));
  }
}

}  // namespace
}  // namespace torus::parallel
