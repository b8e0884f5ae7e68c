#include "recipes/convert/list_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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

const io::StoredType& StoredAs(const std::string& name, const Tensor& tensor,
                               const NarrowTypes& narrow) {
  const auto found = narrow.find(name);
  return found == narrow.end() ? io::StoredTypeOf(tensor.dtype())
                               : *io::StoredTypeNamed(found->second);
}

// "f32", or for a type that tensors have not "f8_e4m3".
std::string TypeOf(const std::string& name, const Tensor& tensor, const NarrowTypes& narrow) {
  const io::StoredType& type = StoredAs(name, tensor, narrow);
  if (type.plain) return std::string(Name(tensor.dtype()));
  std::string lower(type.name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

uint64_t BytesOf(const std::string& name, const Tensor& tensor, const NarrowTypes& narrow) {
  return StoredAs(name, tensor, narrow).bytes;
}

}  // namespace

std::string ListTensors(const std::vector<NamedTensor>& tensors, const NarrowTypes& narrow) {
  size_t width = 4;
  for (const NamedTensor& tensor : tensors) width = std::max(width, tensor.name.size());
  const int types = narrow.empty() ? 5 : 7;
  std::string text =
      fmt::format("{:<{}} {:<{}} {:<22} {:>13} {:>12} {:>12} {:>12}\n", "name", width, "dtype",
                  types, "shape", "elements", "smallest", "largest", "mean");
  int64_t elements = 0;
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) {
    text += fmt::format("{:<{}} {:<{}} {:<22} {:>13} {}\n", name, width,
                        TypeOf(name, tensor, narrow), types, ToString(tensor.shape()),
                        FormatCount(static_cast<double>(tensor.numel())), Values(tensor));
    elements += tensor.numel();
    bytes += static_cast<uint64_t>(tensor.numel()) * BytesOf(name, tensor, narrow);
  }
  return text + fmt::format("{} tensors, {} elements, {}\n", tensors.size(),
                            FormatCount(static_cast<double>(elements)), FormatBytes(bytes));
}

}  // namespace torus::recipes
