// What emulated GPUs have instead of the proposals of cuBLASLt and cuDNN: by default a single one,
// or those of a test. Whichever is taken, the same kernel computes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ops/cuda/choose_plan.h"

namespace torus::cuda {

struct FakeProposals {
  int64_t count = 1;
  std::string kind = "emulated";  // proposal i is "kind i"
  // What timing proposal i for this question gives.
  std::function<double(const std::string& what, int64_t i)> seconds = {};
  // Called for each product and graph with the proposal that it takes.
  std::function<void(const std::string& what, int64_t i)> taken = {};
};

// While it is alive, products and graphs of emulated GPUs choose among these. There may be one at a
// time, and no other thread may run a product or graph while it is created or destroyed. Real GPUs
// ignore it.
class ProposalStandIn {
 public:
  explicit ProposalStandIn(FakeProposals proposals);
  ~ProposalStandIn();
  ProposalStandIn(const ProposalStandIn&) = delete;
  ProposalStandIn& operator=(const ProposalStandIn&) = delete;

  static const FakeProposals& Current();
};

// A Source of ChoosePlan; a plan is the number of its proposal.
class FakeSource {
 public:
  static constexpr int kLists = 1;

  explicit FakeSource(std::string what) : what_(std::move(what)) {}
  int64_t Propose(int) const { return ProposalStandIn::Current().count; }
  bool IsAllowed(int64_t) const { return true; }
  std::string Text(int64_t i) const;
  std::optional<int64_t> Build(int64_t i) const { return i; }
  double Seconds(int64_t plan) const { return ProposalStandIn::Current().seconds(what_, plan); }

 private:
  const std::string what_;
};

// The choice of the calling thread's plans, which there must be.
int64_t ChooseFake(const std::string& what, bool may_time);
// Tells the test.
void NoteTaken(const std::string& what, int64_t proposal);

}  // namespace torus::cuda
