#include "recipes/convert/list_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "recipes/report/units.h"

namespace torus::recipes {
namespace {

struct ValueRange {
  double smallest = INFINITY, largest = -INFINITY, sum = 0;
  int64_t finite = 0, others = 0;
};

ValueRange RangeOf(const Tensor& tensor) {
  ValueRange range;
  for (const double value : ToVector<double>(tensor.To(DType::kF64).Contiguous())) {
    if (!std::isfinite(value)) {
      ++range.others;
      continue;
    }
    range.smallest = std::min(range.smallest, value);
    range.largest = std::max(range.largest, value);
    range.sum += value;
    ++range.finite;
  }
  return range;
}

std::string Values(const Tensor& tensor) {
  const ValueRange range = RangeOf(tensor);
  std::string text;
  if (range.finite > 0)
    text = fmt::format("{:>12.5g} {:>12.5g} {:>12.5g}", range.smallest, range.largest,
                       range.sum / static_cast<double>(range.finite));
  return range.others == 0 ? text : text + fmt::format("  {} not finite", range.others);
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
                        ToString(tensor.shape()), FormatCount(static_cast<double>(tensor.numel())),
                        Values(tensor));
    elements += tensor.numel();
    bytes += tensor.bytes();
  }
  return text + fmt::format("{} tensors, {} elements, {}\n", tensors.size(),
                            FormatCount(static_cast<double>(elements)), FormatBytes(bytes));
}

}  // namespace torus::recipes
