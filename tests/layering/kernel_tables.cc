#include "tests/layering/kernel_tables.h"

#include <algorithm>
#include <regex>

#include "tests/layering/source_tokens.h"

namespace torus::layering {
namespace {

bool Fits(const Excuse& excuse, std::string_view family, std::string_view kernel) {
  return excuse.family == family && (excuse.kernel == "*" || excuse.kernel == kernel);
}

// The function's name stands before the parameters of its last "NAME(...) {".
std::string EnclosingFunction(const std::string& code) {
  static const std::regex head(R"((\w+)\([^{};]*\) \{)");
  std::string name;
  for (std::sregex_iterator at(code.begin(), code.end(), head), end; at != end; ++at)
    name = (*at)[1];
  return name;
}

}  // namespace

std::vector<DeclaredKernel> KernelsOf(std::string_view text) {
  const std::string code = CodeOf(text);
  static const std::regex line(
      R"(\bTORUS_(?:PRODUCT_|GPU_)?KERNEL(?:_TEMPLATE\(\w+,|\()\s*(\w+),|\bDispatch\()");
  std::vector<DeclaredKernel> kernels;
  for (std::sregex_iterator at(code.begin(), code.end(), line), end; at != end; ++at) {
    const bool of_table = (*at)[1].matched;
    kernels.push_back(
        {of_table ? (*at)[1].str() : EnclosingFunction(code.substr(0, at->position())), of_table});
  }
  return kernels;
}

const std::vector<Excuse>& KernelsWithoutGpu() {
  static const std::vector<Excuse> excuses{
      {"conv_chain", "*", "composed of convolutions and batch norms on a GPU"},
      {"recurrent", "LstmSteps", "composed of its steps on a GPU"},
      {"recurrent", "LstmStepsBackward", "as LstmSteps"},
      {"recurrent", "LstmWeightGradient", "as LstmSteps"},
      {"recurrent", "LstmStateGradient", "as LstmSteps"},
  };
  return excuses;
}

std::vector<std::string> CheckKernels(std::string_view family, std::string_view text) {
  std::vector<std::string> wrong;
  const std::string path = "ops/" + std::string(family) + "/kernels.h: ";
  const std::vector<DeclaredKernel> kernels = KernelsOf(text);
  for (const DeclaredKernel& kernel : kernels) {
    const bool excused = std::ranges::any_of(KernelsWithoutGpu(), [&](const Excuse& excuse) {
      return Fits(excuse, family, kernel.name);
    });
    if (!kernel.gpu && !excused) wrong.push_back(path + kernel.name + " has no kernel for GPUs");
    if (kernel.gpu && excused)
      wrong.push_back(path + kernel.name + " has a kernel for GPUs, and an excuse for having none");
  }
  for (const Excuse& excuse : KernelsWithoutGpu()) {
    if (excuse.family != family) continue;
    if (std::ranges::none_of(kernels,
                             [&](const DeclaredKernel& k) { return Fits(excuse, family, k.name); }))
      wrong.push_back(path + "there is no kernel " + std::string(excuse.kernel) + " to excuse");
  }
  return wrong;
}

}  // namespace torus::layering
