#include "tools/replay/case.h"

#include <regex>

#include "runtime/io/safetensors.h"

namespace torus::replay {
namespace {

// Python writes numbers that JSON does not have. They become strings, which Attrs reads as numbers.
std::string QuoteNonFinite(const std::string& json) {
  static const std::regex number(R"(([\[:,] *)(-?Infinity|NaN)\b)");
  return std::regex_replace(json, number, "$1\"$2\"");
}

}  // namespace

const Tensor& Case::Get(const std::string& name) const {
  const auto found = tensors.find(name);
  Require(found != tensors.end(), path, "the case has no tensor {}", name);
  return found->second;
}

Tensor Case::Find(const std::string& name) const {
  const auto found = tensors.find(name);
  return found == tensors.end() ? Tensor() : found->second;
}

std::map<std::string, Tensor> Case::Group(const std::string& prefix) const {
  std::map<std::string, Tensor> group;
  for (auto it = tensors.lower_bound(prefix); it != tensors.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    group.emplace(it->first.substr(prefix.size()), it->second);
  }
  return group;
}

Case ReadCase(const std::string& path, Device device) {
  SafetensorsFile file = ReadSafetensors(path);
  Require(file.metadata["format"] == "1", path, "needs metadata format 1, got \"{}\"",
          file.metadata["format"]);
  Case result{.path = path,
              .spec = nlohmann::json::parse(QuoteNonFinite(file.metadata["case"]), nullptr,
                                            /*exceptions=*/false),
              .device = device};
  Require(result.spec.is_object() && result.spec.contains("op") && result.spec["op"].is_string(),
          path, "its metadata \"case\" is no JSON object with an \"op\"");
  for (NamedTensor& tensor : file.tensors)
    result.tensors.emplace(std::move(tensor.name), tensor.value.To(device));
  return result;
}

}  // namespace torus::replay
