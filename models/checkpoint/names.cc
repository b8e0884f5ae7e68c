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

bool IsConstant(const std::string& name) {
  return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") ||
         name.ends_with("position_ids");
}

class Fitter {
 public:
  Fitter(const nn::Module& model, const std::vector<NamedTensor>& state)
      : wanted_(NamesOf(model)), parallel_(!state.empty() && AllBegin(state, "module.")) {
    for (const char* base : {"transformer.", "roberta."})
      if (!AnyBegins(state, base)) bases_.push_back(base);
  }

  // Empty for a tensor to leave out.
  std::string Fit(std::string name) const {
    if (parallel_) name = name.substr(7);
    if (wanted_.contains(name)) return name;
    for (const auto& [old, now] : {std::pair{".gamma", ".weight"}, std::pair{".beta", ".bias"}})
      if (name.ends_with(old)) name = name.substr(0, name.size() - std::string(old).size()) + now;
    for (const std::string& base : bases_)
      if (!wanted_.contains(name) && wanted_.contains(base + name)) return base + name;
    return !wanted_.contains(name) && IsConstant(name) ? "" : name;
  }

 private:
  std::set<std::string> wanted_;
  bool parallel_;
  std::vector<std::string> bases_;
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
                                  std::vector<Renamed>* renamed) {
  const Fitter fitter(model, state);
  std::vector<NamedTensor> fitted;
  for (NamedTensor& tensor : state) {
    const std::string name = fitter.Fit(tensor.name);
    if (name != tensor.name && renamed != nullptr) renamed->push_back({tensor.name, name});
    if (!name.empty()) fitted.push_back({name, tensor.value});
  }
  return fitted;
}

}  // namespace torus
