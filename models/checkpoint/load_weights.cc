#include "models/checkpoint/load_weights.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/layout.h"
#include "models/checkpoint/state_dict.h"
#include "models/checkpoint/torch_file.h"
#include "runtime/io/safetensors.h"

namespace torus {
namespace {

bool IsOfAHead(const std::string& name, const NameRules& rules) {
  return std::ranges::any_of(rules.heads,
                             [&](const std::string& head) { return name.starts_with(head); });
}

// Those that are not tied to another layer's.
std::vector<NamedVariable> OwnParameters(const nn::Sequential::Layer& layer) {
  std::vector<NamedVariable> own = layer.module->Parameters(layer.name);
  std::erase_if(own, [&](const NamedVariable& p) { return !p.name.starts_with(layer.name + "."); });
  return own;
}

// By exact names: other layers may have the same prefix.
bool HasAnyOf(const nn::Sequential::Layer& layer, const std::vector<NamedTensor>& state) {
  std::set<std::string> names;
  for (const NamedVariable& p : OwnParameters(layer)) names.insert(p.name);
  for (const nn::Alias& alias : layer.module->Aliases(layer.name)) names.insert(alias.name);
  return std::ranges::any_of(
      state, [&](const NamedTensor& tensor) { return names.contains(tensor.name); });
}

}  // namespace

std::vector<NamedTensor> ReadWeights(const std::string& path) {
  if (std::filesystem::is_directory(path)) return ReadHuggingFace(path).tensors;
  if (path.ends_with(".safetensors")) return ReadSafetensors(path).tensors;
  return ReadTorchFile(path).tensors;
}

void LoadWeights(nn::Module& model, const std::string& path, const NameRules& rules) {
  LoadStateDict(model, FitNames(model, ReadWeights(path), rules), path);
}

BodyNotes LoadBody(nn::Sequential& model, const std::string& path, const NameRules& rules) {
  std::vector<NamedTensor> state = FitNames(model, ReadWeights(path), rules);
  const std::set<std::string> wanted = NamesOf(model);
  BodyNotes notes;
  std::erase_if(state, [&](const NamedTensor& tensor) {
    const bool out = !wanted.contains(tensor.name) && IsOfAHead(tensor.name, rules);
    if (out) notes.left_out.push_back(tensor.name);
    return out;
  });
  const nn::Sequential::Layer& head = model.layers().back();
  if (!HasAnyOf(head, state)) {
    for (const NamedVariable& p : OwnParameters(head)) {
      state.push_back({p.name, ToFileLayout(p.value.data()).Clone()});
      notes.kept.push_back(p.name);
    }
  }
  LoadStateDict(model, state, path);
  return notes;
}

}  // namespace torus
