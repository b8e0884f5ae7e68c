#include "tests/layering/device_rules.h"

#include <regex>
#include <sstream>

#include "tests/layering/source_tokens.h"

namespace torus::layering {
namespace {

bool HoldsKernels(std::string_view path) {
  return path.find("/cpu/") != path.npos || path.find("/cuda/") != path.npos;
}

bool IsHeld(std::string_view path) {
  const auto within = [&](std::string_view folder) { return path.starts_with(folder); };
  if (HoldsKernels(path)) return false;
  // Files are read into host memory and written from it.
  return within("ops/") || (within("models/") && !within("models/checkpoint/"));
}

}  // namespace

std::vector<std::string> CheckDeviceCode(std::string_view path, std::string_view text) {
  static const std::regex memory(R"(\b(mutable_)?(data<|raw\(\)))");
  static const std::regex parallel(R"(\bParallelFor\b)");
  static const std::regex device(R"(\b(cpu|cuda)::)");
  if (!IsHeld(path)) return {};
  const bool table = path.ends_with("/kernels.h");
  std::vector<std::string> violations;
  std::istringstream lines{CodeOf(text)};
  std::string code;
  for (int number = 1; std::getline(lines, code); ++number) {
    const auto check = [&](const std::regex& rule, const char* what) {
      if (std::regex_search(code, rule))
        violations.push_back(std::string(path) + ":" + std::to_string(number) + ": may not " +
                             what);
    };
    check(memory, "touch a tensor's memory");
    check(parallel, "call ParallelFor");
    if (!table) check(device, "name a device's kernels");
  }
  return violations;
}

}  // namespace torus::layering
