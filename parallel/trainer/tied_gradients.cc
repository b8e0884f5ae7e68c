#include "parallel/trainer/tied_gradients.h"

#include <algorithm>
#include <set>

#include "parallel/collectives/broadcast.h"
#include "parallel/data_parallel/replica_strategy.h"
#include "parallel/transport/group.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

// The uses of a parameter in one stage, in order.
std::vector<Variable> UsesIn(const std::vector<NamedVariable>& stage, const std::string& name) {
  std::vector<Variable> uses;
  for (const NamedVariable& parameter : stage)
    if (parameter.name == name) uses.push_back(parameter.value);
  return uses;
}

}  // namespace

TiedGradients::TiedGradients(Transport& pipeline, const ParameterTable& table,
                             const std::vector<int>& owners,
                             const std::map<int, std::vector<NamedVariable>>& held)
    : pipeline_(pipeline) {
  for (const ParameterTable::Entry& entry : table.entries()) {
    if (!entry.tied()) continue;
    Tied tied{.name = entry.name, .stages = entry.stages};
    std::set<int> ranks;
    bool holds = true;
    std::map<int, size_t> seen;  // uses of a stage so far
    for (const int s : entry.stages) {
      tied.owners.push_back(owners.at(s));
      ranks.insert(owners.at(s));
      const auto own = held.find(s);
      if (own == held.end()) {
        tied.uses.emplace_back();
        continue;
      }
      tied.uses.push_back(UsesIn(own->second, entry.name).at(seen[s]++));
      holds = tied.uses.back().defined();
      if (!holds) break;
      tied.shape = tied.uses.back().shape();
      tied.dtype = tied.uses.back().dtype();
      tied.device = tied.uses.back().data().device();
    }
    tied.ranks.assign(ranks.begin(), ranks.end());
    if (holds && ranks.contains(pipeline.rank())) tied_.push_back(std::move(tied));
  }
}

void TiedGradients::Sum(const std::string& what) {
  for (Tied& tied : tied_) SumOne(tied, fmt::format("gradient of tied {}, {}", tied.name, what));
}

// Returns the gradient of one use on every rank that has a use of the parameter; undefined if it
// has none.
Tensor TiedGradients::Gather(Tied& tied, size_t use, const std::string& what) {
  Variable& variable = tied.uses[use];
  Tensor gradient;
  if (variable.defined() && variable.grad().defined()) gradient = variable.grad().Contiguous();
  if (variable.defined()) variable.ZeroGrad();
  if (tied.ranks.size() == 1) return gradient;
  Group group(pipeline_, tied.ranks);
  const auto owner = std::find(tied.ranks.begin(), tied.ranks.end(), tied.owners[use]);
  const int root = static_cast<int>(owner - tied.ranks.begin());
  std::byte has_gradient{gradient.defined()};
  Broadcast(group, {&has_gradient, 1}, root, "presence of " + what);
  if (!std::to_integer<bool>(has_gradient)) return {};
  if (!gradient.defined()) gradient = Empty(tied.shape, tied.dtype, tied.device);
  BroadcastTensor(group, gradient, root, what);
  return gradient;
}

void TiedGradients::SumOne(Tied& tied, const std::string& what) {
  Tensor sum;
  for (size_t use = 0; use < tied.uses.size(); ++use) {
    const Tensor gradient = Gather(tied, use, what);
    if (!sum.defined()) {
      sum = gradient;
    } else if (gradient.defined()) {
      AddInPlace(sum, gradient);
    }
  }
  if (!sum.defined()) return;
  int filled = -1;  // stage
  for (size_t use = 0; use < tied.uses.size(); ++use) {
    if (!tied.uses[use].defined() || tied.stages[use] == filled) continue;
    tied.uses[use].SetGrad(filled < 0 ? sum : sum.Clone());
    filled = tied.stages[use];
  }
}

}  // namespace torus::parallel
