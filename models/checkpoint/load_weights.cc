#include "models/checkpoint/load_weights.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/layout.h"
#include "models/checkpoint/names.h"
#include "models/checkpoint/state_dict.h"
#include "models/checkpoint/torch_file.h"
#include "runtime/io/safetensors.h"

namespace torus {
namespace {

bool OfAnotherHead(const std::string& name) {
  for (const char* head : {"lm_head.", "classifier.", "score.", "roberta.pooler."})
    if (name.starts_with(head)) return true;
  return false;
}

}  // namespace

std::vector<NamedTensor> ReadWeights(const std::string& path) {
  if (std::filesystem::is_directory(path)) return ReadHuggingFace(path).tensors;
  if (path.ends_with(".safetensors")) return ReadSafetensors(path).tensors;
  return ReadTorchFile(path).tensors;
}

void LoadWeights(nn::Module& model, const std::string& path) {
  LoadStateDict(model, FitNames(model, ReadWeights(path)), path);
}

BodyNotes LoadBody(nn::Sequential& model, const std::string& path) {
  std::vector<NamedTensor> state = FitNames(model, ReadWeights(path));
  const nn::Sequential::Layer& head = model.layers().back();
  std::set<std::string> wanted;
  for (const NamedTensor& tensor : StateDict(model)) wanted.insert(tensor.name);
  BodyNotes notes;
  std::erase_if(state, [&](const NamedTensor& tensor) {
    const bool out = !wanted.contains(tensor.name) && OfAnotherHead(tensor.name);
    if (out) notes.left_out.push_back(tensor.name);
    return out;
  });
  const std::string prefix = head.name + ".";
  const bool none = std::ranges::none_of(
      state, [&](const NamedTensor& tensor) { return tensor.name.starts_with(prefix); });
  if (none) {
    for (const NamedVariable& p : head.module->Parameters(head.name)) {
      if (!p.name.starts_with(prefix)) continue;  // tied to the body
      state.push_back({p.name, ToFileLayout(p.value.data()).Clone()});
      notes.kept.push_back(p.name);
    }
  }
  LoadStateDict(model, state, path);
  return notes;
}

}  // namespace torus
