// SGD against PyTorch: the cases optimizer.sgd.* of TORUS_CASES.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "parallel/optim/sgd.h"
#include "runtime/io/safetensors.h"

namespace torus::parallel {
namespace {

std::vector<std::filesystem::path> Cases() {
  std::vector<std::filesystem::path> found;
  const char* folder = std::getenv("TORUS_CASES");
  if (folder == nullptr || !std::filesystem::is_directory(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("optimizer.sgd."))
      found.push_back(entry.path());
  return found;
}

Tensor Find(const SafetensorsFile& file, const std::string& name) {
  for (const NamedTensor& tensor : file.tensors)
    if (tensor.name == name) return tensor.value;
  ADD_FAILURE() << "no tensor " << name;
  return {};
}

// The kernel rounds where PyTorch's does, so every step must give its very bits.
void RunCase(const SafetensorsFile& file) {
  const auto what = nlohmann::json::parse(file.metadata.at("case"));
  const auto& o = what.at("optimizer");
  Variable p(Find(file, "param.p").Clone(), true);
  Sgd sgd({{"p", p}}, {.momentum = o.at("momentum"),
                       .dampening = o.at("dampening"),
                       .weight_decay = o.at("weight_decay"),
                       .nesterov = o.at("nesterov")});
  const Tensor gradients = Find(file, "grad.p"), expected = Find(file, "out.p");
  for (int64_t step = 0; step < what.at("steps"); ++step) {
    p.SetGrad(gradients.Select(0, step));
    sgd.Step(o.at("lr"));
    EXPECT_EQ(ToVector<float>(p.data()), ToVector<float>(expected.Select(0, step)))
        << "step " << step;
  }
}

TEST(SgdCases, GivePyTorchsBits) {
  const std::vector<std::filesystem::path> cases = Cases();
  if (cases.empty()) GTEST_SKIP() << "TORUS_CASES names no folder with optimizer.sgd.*.safetensors";
  for (const std::filesystem::path& path : cases) {
    SCOPED_TRACE(path.filename().string());
    RunCase(ReadSafetensors(path.string()));
  }
}

}  // namespace
}  // namespace torus::parallel
