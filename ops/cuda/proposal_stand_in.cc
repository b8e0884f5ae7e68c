#include "ops/cuda/proposal_stand_in.h"

#include <fmt/format.h>

#include <utility>

namespace torus::cuda {
namespace {

FakeProposals& Proposals() {
  static FakeProposals proposals;
  return proposals;
}

}  // namespace

ProposalStandIn::ProposalStandIn(FakeProposals proposals) { Proposals() = std::move(proposals); }
ProposalStandIn::~ProposalStandIn() { Proposals() = {}; }
const FakeProposals& ProposalStandIn::Current() { return Proposals(); }

std::string FakeSource::Text(int64_t i) const {
  return fmt::format("{} {}", ProposalStandIn::Current().kind, i);
}

int64_t ChooseFake(const std::string& what, bool may_time) {
  FakeSource source(what);
  return ChoosePlan(source, {what, WithPlans::Current(), may_time}).value();
}

void NoteTaken(const std::string& what, int64_t proposal) {
  if (const auto& taken = ProposalStandIn::Current().taken) taken(what, proposal);
}

}  // namespace torus::cuda
