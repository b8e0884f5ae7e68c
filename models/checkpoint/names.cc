#include "models/checkpoint/names.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace torus {
namespace {

// A name without the parts that wrappers add.
std::string WithoutWrappers(const std::string& name) {
  constexpr std::array<std::string_view, 4> kWrappers = {
      "module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"};
  std::string kept;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    const std::string_view part = std::string_view(name).substr(at, end - at);
    if (std::ranges::find(kWrappers, part) == kWrappers.end())
      kept.append(kept.empty() ? "" : ".").append(part);
    at = end + 1;
  }
  return kept;
}

std::string FromTensorFlow(const std::string& name) {
  for (const auto& [old, now] : {std::pair{".gamma", ".weight"}, std::pair{".beta", ".bias"}})
    if (name.ends_with(old)) return name.substr(0, name.size() - std::string(old).size()) + now;
  return name;
}

// With each older part replaced.
std::string WithParts(std::string name,
                      const std::vector<std::pair<std::string, std::string>>& parts) {
  for (const auto& [old, now] : parts)
    if (const size_t at = name.find(old); at != name.npos) name.replace(at, old.size(), now);
  return name;
}

bool BeginsWithAny(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](const auto& prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::set<std::string> NamesOf(const nn::Module& model) {
  std::set<std::string> names;
  for (const NamedVariable& p : model.Parameters()) names.insert(p.name);
  for (const NamedTensor& b : model.Buffers()) names.insert(b.name);
  for (const nn::Alias& a : model.Aliases()) names.insert(a.name);
  return names;
}

NameFitter::NameFitter(const nn::Module& model, const NameRules& rules)
    : wanted_(NamesOf(model)), rules_(rules) {}

std::string NameFitter::Fit(const std::string& name, bool lacks_base) const {
  if (IsWanted(name)) return name;
  const std::string bare = WithoutWrappers(name);
  for (const std::string& fitted : {bare, FromTensorFlow(bare), WithParts(bare, rules_.parts)}) {
    if (IsWanted(fitted)) return fitted;
    if (lacks_base && IsWanted(rules_.base + fitted)) return rules_.base + fitted;
  }
  return IsConstant(name) ? "" : name;
}

bool NameFitter::IsBase(const std::string& name) const {
  return rules_.base.empty() || name.starts_with(rules_.base);
}

bool NameFitter::IsOfAHead(const std::string& name) const {
  return BeginsWithAny(name, rules_.heads);
}

bool NameFitter::IsConstant(const std::string& name) const {
  return std::ranges::any_of(rules_.constants,
                             [&](const std::string& end) { return name.ends_with(end); });
}

std::vector<NamedTensor> FitNames(const nn::Module& model, std::vector<NamedTensor> state,
                                  const NameRules& rules, std::vector<Renamed>* renamed) {
  const NameFitter fitter(model, rules);
  const bool lacks_base =
      std::ranges::none_of(state, [&](const auto& tensor) { return fitter.IsBase(tensor.name); });
  std::vector<NamedTensor> fitted;
  for (NamedTensor& tensor : state) {
    const std::string name = fitter.Fit(tensor.name, lacks_base);
    if (name != tensor.name && renamed != nullptr) renamed->push_back({tensor.name, name});
    if (!name.empty()) fitted.push_back({name, tensor.value});
  }
  return fitted;
}

}  // namespace torus
