#include "parallel/trainer/tied_gradients.h"

#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

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

TiedGradients::TiedGradients(Communicator& pipeline, const ParameterTable& table,
                             const std::vector<int>& owners,
                             const std::map<int, std::vector<NamedVariable>>& held) {
  for (const ParameterTable::Entry& entry : table.entries()) {
    if (!entry.tied()) continue;
    Tied tied{.name = entry.name, .stages = entry.stages};
    std::set<int> ranks;
    for (const int s : entry.stages) ranks.insert(owners.at(s));
    bool holds = ranks.contains(pipeline.rank());
    std::map<int, size_t> seen;  // uses of a stage so far
    for (const int s : entry.stages) {
      tied.owners.push_back(static_cast<int>(std::distance(ranks.begin(), ranks.find(owners[s]))));
      const auto own = held.find(s);
      Variable& use = tied.uses.emplace_back();
      if (own == held.end()) continue;
      use = UsesIn(own->second, entry.name).at(seen[s]++);
      holds = holds && use.defined();
    }
    if (!holds) continue;
    tied.ranks = std::make_unique<Communicator>(pipeline.transport(),
                                                std::vector<int>(ranks.begin(), ranks.end()));
    tied_.push_back(std::move(tied));
  }
}

void TiedGradients::Sum(const std::string& what) {
  for (Tied& tied : tied_) SumOne(tied, fmt::format("gradient of tied {}, {}", tied.name, what));
}

// Returns the gradients of all uses, undefined for a use that has none, on every rank that has a
// use of the parameter. The first use of each rank goes with the first of the others, and so on.
std::vector<Tensor> TiedGradients::Gather(Tied& tied, const std::string& what) {
  std::vector<Tensor> gradients;
  std::vector<std::byte> present;
  Tensor like;  // any use here
  for (Variable& use : tied.uses) {
    Tensor& gradient = gradients.emplace_back();
    if (use.defined() && use.grad().defined()) gradient = use.grad().Contiguous();
    if (use.defined()) like = use.data();
    if (use.defined()) use.ZeroGrad();
    present.push_back(std::byte{gradient.defined()});
  }
  if (tied.ranks->size() == 1) return gradients;
  const auto all = tied.ranks->ShareRecord(present, "presence of " + what);
  std::vector<std::vector<Buffer>> rounds;
  std::vector<size_t> sent(tied.ranks->size());  // uses of each rank so far
  for (size_t use = 0; use < gradients.size(); ++use) {
    const int owner = tied.owners[use];
    if (all[owner * gradients.size() + use] == std::byte{0}) continue;
    Tensor& gradient = gradients[use];
    if (!gradient.defined()) gradient = Empty(like.shape(), like.dtype(), like.device());
    const size_t round = sent[owner]++;
    if (round == rounds.size()) rounds.emplace_back(tied.ranks->size());
    rounds[round][owner] = BufferOf(gradient);
  }
  for (const std::vector<Buffer>& rows : rounds) tied.ranks->AllGather(rows, what);
  return gradients;
}

void TiedGradients::SumOne(Tied& tied, const std::string& what) {
  Tensor sum;
  for (const Tensor& gradient : Gather(tied, what)) {
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
