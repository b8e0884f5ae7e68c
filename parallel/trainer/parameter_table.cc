#include "parallel/trainer/parameter_table.h"

#include <set>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

void CheckTied(const NamedVariable& first, const NamedVariable& use) {
  Require(!(first.value == use.value), "tied weights",
          "{} must be a leaf of its own in each block that uses it, two blocks have one variable",
          use.name);
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

bool SharesVariables(const std::vector<Stage>& stages, size_t index) {
  std::set<const void*> earlier;
  for (size_t s = 0; s < index; ++s)
    for (const NamedVariable& use : stages[s].Parameters()) earlier.insert(use.value.id());
  for (const NamedVariable& use : stages[index].Parameters())
    if (earlier.contains(use.value.id())) return true;
  return false;
}

void ShareTiedWeights(const std::vector<Stage>& stages) {
  std::map<std::string, Variable> of_model;
  for (const Stage& stage : stages) {
    std::map<std::string, Variable> of_stage;
    for (NamedVariable use : stage.Parameters()) {
      const auto [in_stage, new_here] = of_stage.emplace(use.name, use.value);
      const auto [in_model, is_new] = of_model.emplace(use.name, use.value);
      if (!new_here) {
        use.value.SetData(in_stage->second.data());
      } else if (!is_new) {
        use.value.SetData(in_model->second.data().Clone());
      }
    }
  }
}

}  // namespace torus::parallel
