#include "tools/convert/list_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "recipes/report/units.h"

namespace torus::tools {
namespace {

struct Spread {
  double smallest = INFINITY, largest = -INFINITY, sum = 0;
  int64_t finite = 0, others = 0;
};

Spread SpreadOf(const Tensor& tensor) {
  Spread spread;
  for (const double value : ToVector<double>(tensor.To(DType::kF64).Contiguous())) {
    if (!std::isfinite(value)) {
      ++spread.others;
      continue;
    }
    spread.smallest = std::min(spread.smallest, value);
    spread.largest = std::max(spread.largest, value);
    spread.sum += value;
    ++spread.finite;
  }
  return spread;
}

std::string Values(const Tensor& tensor) {
  const Spread spread = SpreadOf(tensor);
  std::string text;
  if (spread.finite > 0)
    text = fmt::format("{:>12.5g} {:>12.5g} {:>12.5g}", spread.smallest, spread.largest,
                       spread.sum / static_cast<double>(spread.finite));
  return spread.others == 0 ? text : text + fmt::format("  {} not finite", spread.others);
}

}  // namespace

std::string ListTensors(const std::vector<NamedTensor>& tensors) {
  size_t width = 4;
  for (const NamedTensor& tensor : tensors) width = std::max(width, tensor.name.size());
  std::string text = fmt::format("{:<{}} {:<5} {:<22} {:>13} {:>12} {:>12} {:>12}\n", "name", width,
                                 "dtype", "shape", "elements", "smallest", "largest", "mean");
  int64_t elements = 0;
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) {
    text += fmt::format("{:<{}} {:<5} {:<22} {:>13} {}\n", name, width, Name(tensor.dtype()),
                        ToString(tensor.shape()),
                        recipes::FormatCount(static_cast<double>(tensor.numel())), Values(tensor));
    elements += tensor.numel();
    bytes += tensor.bytes();
  }
  return text + fmt::format("{} tensors, {} elements, {}\n", tensors.size(),
                            recipes::FormatCount(static_cast<double>(elements)),
                            recipes::FormatBytes(bytes));
}

}  // namespace torus::tools
