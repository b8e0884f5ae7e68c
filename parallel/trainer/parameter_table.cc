#include "parallel/trainer/parameter_table.h"

#include <algorithm>
#include <set>

#include "autograd/low_copy.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

void CheckTied(const NamedVariable& first, const NamedVariable& use) {
  Require(first.value.shape() == use.value.shape() && first.value.dtype() == use.value.dtype(),
          "tied weights", "{} must be {} in every block that uses it, got {}", use.name,
          first.value, use.value);
}

}  // namespace

ParameterTable::ParameterTable(const std::vector<Stage>& stages) {
  std::map<std::string, NamedVariable> first;
  for (size_t s = 0; s < stages.size(); ++s) {
    for (const NamedVariable& use : stages[s].Parameters()) {
      const auto [known, is_new] = first.emplace(use.name, use);
      if (is_new) {
        index_[use.name] = entries_.size();
        entries_.push_back({use.name, {}});
      } else {
        CheckTied(known->second, use);
      }
      entries_[index_.at(use.name)].stages.push_back(static_cast<int>(s));
    }
  }
}

std::vector<NamedVariable> UniqueParameters(const Stage& stage) {
  std::set<std::string> seen;
  std::vector<NamedVariable> unique;
  for (const NamedVariable& use : stage.Parameters())
    if (seen.insert(use.name).second) unique.push_back(use);
  return unique;
}

bool ShareVariables(const Stage& a, const Stage& b) {
  std::set<const void*> of_a;
  for (const NamedVariable& use : a.Parameters()) of_a.insert(use.value.id());
  return std::ranges::any_of(
      b.Parameters(), [&](const NamedVariable& use) { return of_a.contains(use.value.id()); });
}

void ShareTiedWeights(const std::vector<Stage>& stages, const std::vector<int>& own) {
  std::map<std::string, Tensor> of_model;
  for (int s = 0; s < static_cast<int>(stages.size()); ++s) {
    const bool here = std::ranges::count(own, s) > 0;
    std::map<std::string, Variable> of_stage;
    for (NamedVariable use : stages[s].Parameters()) {
      const auto [in_stage, new_here] = of_stage.emplace(use.name, use.value);
      const auto [in_model, is_new] = of_model.emplace(use.name, use.value.data());
      if (!here) continue;
      if (!new_here) {
        use.value.SetData(in_stage->second.data());
        ShareLowCopy(in_stage->second, use.value);
      } else if (!is_new) {
        use.value.SetData(in_model->second.Clone());
      }
    }
  }
}

}  // namespace torus::parallel
