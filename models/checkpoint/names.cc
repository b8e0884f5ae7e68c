#include "models/checkpoint/names.h"

#include <algorithm>

namespace torus {
namespace {

bool AnyBegins(const std::vector<NamedTensor>& state, const std::string& prefix) {
  return std::ranges::any_of(state,
                             [&](const NamedTensor& t) { return t.name.starts_with(prefix); });
}

bool AllBegin(const std::vector<NamedTensor>& state, const std::string& prefix) {
  return std::ranges::all_of(state,
                             [&](const NamedTensor& t) { return t.name.starts_with(prefix); });
}

class Fitter {
 public:
  Fitter(const nn::Module& model, const std::vector<NamedTensor>& state, const NameRules& rules)
      : wanted_(NamesOf(model)),
        rules_(rules),
        parallel_(!state.empty() && AllBegin(state, "module.")),
        lacks_base_(!rules.base.empty() && !AnyBegins(state, rules.base)) {}

  // Empty for a tensor to leave out.
  std::string Fit(std::string name) const {
    if (parallel_) name = name.substr(7);
    if (wanted_.contains(name)) return name;
    for (const auto& [old, now] : {std::pair{".gamma", ".weight"}, std::pair{".beta", ".bias"}})
      if (name.ends_with(old)) name = name.substr(0, name.size() - std::string(old).size()) + now;
    if (wanted_.contains(name)) return name;
    if (lacks_base_ && wanted_.contains(rules_.base + name)) return rules_.base + name;
    return IsConstant(name) ? "" : name;
  }

 private:
  bool IsConstant(const std::string& name) const {
    return std::ranges::any_of(rules_.constants,
                               [&](const std::string& end) { return name.ends_with(end); });
  }

  const std::set<std::string> wanted_;
  const NameRules& rules_;
  const bool parallel_, lacks_base_;
};

}  // namespace

std::set<std::string> NamesOf(const nn::Module& model) {
  std::set<std::string> names;
  for (const NamedVariable& p : model.Parameters()) names.insert(p.name);
  for (const NamedTensor& b : model.Buffers()) names.insert(b.name);
  for (const nn::Alias& a : model.Aliases()) names.insert(a.name);
  return names;
}

std::vector<NamedTensor> FitNames(const nn::Module& model, std::vector<NamedTensor> state,
                                  const NameRules& rules, std::vector<Renamed>* renamed) {
  const Fitter fitter(model, state, rules);
  std::vector<NamedTensor> fitted;
  for (NamedTensor& tensor : state) {
    const std::string name = fitter.Fit(tensor.name);
    if (name != tensor.name && renamed != nullptr) renamed->push_back({tensor.name, name});
    if (!name.empty()) fitted.push_back({name, tensor.value});
  }
  return fitted;
}

}  // namespace torus
