#include "models/checkpoint/load_weights.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/state_dict.h"
#include "models/checkpoint/torch_file.h"
#include "runtime/error.h"
#include "runtime/io/checkpoint_reader.h"
#include "runtime/io/file_layout.h"
#include "runtime/io/folder_place.h"
#include "runtime/io/safetensors.h"

namespace torus {
namespace {

// The layer's parameters that are not tied to another layer's.
std::vector<NamedVariable> OwnParameters(const nn::Sequential::Layer& layer) {
  std::vector<NamedVariable> own = layer.module->Parameters(layer.name);
  std::erase_if(own, [&](const NamedVariable& p) { return !p.name.starts_with(layer.name + "."); });
  return own;
}

// Compares exact names, since other layers may have the same prefix.
bool HasAnyOf(const nn::Sequential::Layer& layer, const std::vector<NamedTensor>& state) {
  std::set<std::string> names;
  for (const NamedVariable& p : OwnParameters(layer)) names.insert(p.name);
  for (const nn::Alias& alias : layer.module->Aliases(layer.name)) names.insert(alias.name);
  return std::ranges::any_of(
      state, [&](const NamedTensor& tensor) { return names.contains(tensor.name); });
}

bool DiffersInOutputs(const Shape& file, const Shape& ours) {
  if (file.rank() != ours.rank() || file.rank() == 0 || file[0] == ours[0]) return false;
  for (int d = 1; d < ours.rank(); ++d)
    if (file[d] != ours[d]) return false;
  return true;
}

// Uses the model's own value of `parameter` in place of the file's.
void Keep(const NamedVariable& parameter, std::vector<NamedTensor>& state, BodyNotes& notes) {
  state.push_back({parameter.name, ToFileLayout(parameter.value.data()).Clone()});
  notes.kept.push_back(parameter.name);
}

// Keeps the parameters of the last layer of which the file has another number of outputs.
void KeepOtherOutputs(const nn::Sequential::Layer& head, std::vector<NamedTensor>& state,
                      BodyNotes& notes) {
  for (const NamedVariable& p : OwnParameters(head)) {
    const auto found = std::ranges::find(state, p.name, &NamedTensor::name);
    if (found == state.end() ||
        !DiffersInOutputs(found->value.shape(), ToFileLayout(p.value.data()).shape()))
      continue;
    notes.left_out.push_back(fmt::format("{} {}", p.name, ToString(found->value.shape())));
    state.erase(found);
    Keep(p, state, notes);
  }
}

// Whether the state has all parameters, by one of their names.
bool HasAll(const nn::Module& model, const std::vector<NamedTensor>& state) {
  std::set<std::string> names;
  for (const NamedTensor& tensor : state) names.insert(tensor.name);
  for (const nn::Alias& alias : model.Aliases())
    if (names.contains(alias.name)) names.insert(alias.owner);
  return std::ranges::all_of(model.Parameters(),
                             [&](const NamedVariable& p) { return names.contains(p.name); });
}

// Takes the tensors of other heads, for which the model has no place, out of the state. Returns
// their names.
std::vector<std::string> TakeOutOtherHeads(const NameFitter& names,
                                           std::vector<NamedTensor>& state) {
  std::vector<std::string> taken;
  std::erase_if(state, [&](const NamedTensor& tensor) {
    const bool out = !names.IsWanted(tensor.name) && names.IsOfAHead(tensor.name);
    if (out) taken.push_back(tensor.name);
    return out;
  });
  return taken;
}

// Loads the state, and says in an error also where the file's index contradicts its shards.
void Load(nn::Module& model, const std::vector<NamedTensor>& state, const std::string& path,
          const TakenWeights& taken, const std::map<std::string, std::string>& others) {
  try {
    LoadStateDict(model, state, path, others);
  } catch (const BadInput& error) {
    if (taken.differences.empty()) throw;
    throw BadInput(fmt::format("{}; {}", error.what(), fmt::join(taken.differences, "; ")));
  }
}

constexpr size_t kMostShown = 8;

// The first of what a file holds, for a message.
std::vector<std::string> FirstOf(std::vector<std::string> others) {
  if (others.size() > kMostShown) {
    others.resize(kMostShown);
    others.push_back("...");
  }
  return others;
}

// What else the part has, under the model's names.
std::map<std::string, std::string> FitOthers(const NameFitter& names, const WeightsPart& part) {
  const bool lacks_base = std::ranges::none_of(
      part.tensors, [&](const NamedTensor& tensor) { return names.IsBase(tensor.name); });
  std::map<std::string, std::string> fitted;
  for (const auto& [name, value] : part.others) fitted[names.Fit(name, lacks_base)] = value;
  return fitted;
}

// The part of the file that fits the model.
WeightsPart PartOf(const nn::Module& model, const FileWeights& file, const WeightsSource& source,
                   const NameRules& rules) {
  if (file.tensors.empty())
    Throw<BadInput>(source.file, "must have tensors, but has none: {}",
                    file.others.empty() ? "it is empty"
                                        : fmt::format("{}", fmt::join(FirstOf(file.others), ", ")));
  return ChoosePart(model, file, rules, source.part, source.file);
}

}  // namespace

FileWeights ReadWeights(const std::string& path) {
  if (io::CheckpointReader::IsOne(path))
    return {.tensors = io::CheckpointReader(path).ReadAll(io::kWeights)};
  if (!io::CommittedFolder(path).empty()) {
    HuggingFaceFolder folder = ReadHuggingFace(path);
    return {.tensors = std::move(folder.tensors),
            .narrow = std::move(folder.narrow),
            .differences = std::move(folder.differences)};
  }
  if (path.ends_with(".safetensors")) {
    SafetensorsFile file = ReadSafetensors(path);
    return {.tensors = std::move(file.tensors), .narrow = std::move(file.narrow)};
  }
  TorchFile file = ReadTorchFile(path);
  return {.tensors = std::move(file.tensors),
          .narrow = std::move(file.narrow),
          .inner = std::move(file.inner),
          .others = std::move(file.others)};
}

TakenWeights LoadWeights(nn::Module& model, const WeightsSource& source, const NameRules& rules) {
  return LoadWeights(model, ReadWeights(source.file), source, rules);
}

TakenWeights LoadWeights(nn::Module& model, const FileWeights& file, const WeightsSource& source,
                         const NameRules& rules) {
  WeightsPart part = PartOf(model, file, source, rules);
  const NameFitter names(model, rules);
  const std::map<std::string, std::string> others = FitOthers(names, part);
  std::vector<NamedTensor> state = FitNames(model, std::move(part.tensors), rules);
  // What is surplus helps to see why something is missing.
  if (HasAll(model, state)) {
    for (std::string& name : TakeOutOtherHeads(names, state)) {
      part.taken.left.push_back(std::move(name));
      --part.taken.tensors;
    }
  }
  Load(model, state, source.file, part.taken, others);
  return part.taken;
}

BodyNotes LoadBody(nn::Sequential& model, const WeightsSource& source, const NameRules& rules) {
  WeightsPart part = PartOf(model, ReadWeights(source.file), source, rules);
  const NameFitter names(model, rules);
  const std::map<std::string, std::string> others = FitOthers(names, part);
  std::vector<NamedTensor> state = FitNames(model, std::move(part.tensors), rules);
  BodyNotes notes{.taken = std::move(part.taken)};
  notes.left_out = TakeOutOtherHeads(names, state);
  const nn::Sequential::Layer& head = model.layers().back();
  if (HasAnyOf(head, state)) {
    KeepOtherOutputs(head, state, notes);
  } else {
    for (const NamedVariable& p : OwnParameters(head)) Keep(p, state, notes);
  }
  Load(model, state, source.file, notes.taken, others);
  return notes;
}

}  // namespace torus
