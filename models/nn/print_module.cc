#include "models/nn/print_module.h"

#include <algorithm>
#include <vector>

namespace torus::nn {
namespace {

std::string Row(const NamedTensor& tensor, size_t width, const char* kind) {
  return fmt::format("{:<{}}   {} {}{}\n", tensor.name, width, Name(tensor.value.dtype()),
                     tensor.value.shape(), kind);
}

}  // namespace

std::string ToString(const Module& module) {
  std::vector<NamedTensor> parameters, buffers = module.Buffers();
  for (const NamedVariable& p : module.Parameters()) parameters.push_back({p.name, p.value.data()});
  size_t width = 0;
  for (const auto* list : {&parameters, &buffers})
    for (const NamedTensor& tensor : *list) width = std::max(width, tensor.name.size());
  std::string text;
  int64_t elements = 0;
  for (const NamedTensor& tensor : parameters) {
    text += Row(tensor, width, "");
    elements += tensor.value.numel();
  }
  for (const NamedTensor& tensor : buffers) text += Row(tensor, width, " buffer");
  return text + fmt::format("{} parameters\n", elements);
}

}  // namespace torus::nn
