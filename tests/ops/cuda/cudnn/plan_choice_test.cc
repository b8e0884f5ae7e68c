// The rule by which one of cuDNN's proposals is taken, over a fake that notes what it is asked.
#include "ops/cuda/cudnn/plan_choice.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace torus::cuda {
namespace {

struct FakePlan {
  std::string name;
  int64_t workspace = 0;
};

struct Proposal {
  std::string name;
  EngineNotes notes;
  int64_t workspace = 0;
  bool builds = true;
};

// A Source of ChoosePlan that notes each call.
class FakeSource {
 public:
  explicit FakeSource(std::map<Heuristic, std::vector<Proposal>> lists)
      : lists_(std::move(lists)) {}

  int64_t Propose(Heuristic heuristic) {
    calls.push_back(heuristic == Heuristic::kBest ? "best" : "fallback");
    current_ = &lists_[heuristic];
    return std::ssize(*current_);
  }
  EngineNotes Notes(int64_t i) const { return At(i).notes; }
  std::optional<FakePlan> Build(int64_t i) {
    calls.push_back("build " + At(i).name);
    if (!At(i).builds) return std::nullopt;
    return FakePlan{At(i).name, At(i).workspace};
  }

  std::vector<std::string> calls;

 private:
  const Proposal& At(int64_t i) const { return current_->at(static_cast<size_t>(i)); }

  std::map<Heuristic, std::vector<Proposal>> lists_;
  std::vector<Proposal>* current_ = nullptr;
};

using Calls = std::vector<std::string>;

TEST(ChoosePlan, TakesTheFirstWithinTheWorkspace) {
  FakeSource source(
      {{Heuristic::kBest, {{"large", {}, 101}, {"fits", {}, 100}, {"small", {}, 0}}}});
  const auto plan = ChoosePlan(source, {.most_workspace = 100});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->name, "fits");
  EXPECT_EQ(source.calls, (Calls{"best", "build large", "build fits"}));
}

TEST(ChoosePlan, AsksForTheFallbackOnlyWhereTheBestHasNone) {
  FakeSource source({{Heuristic::kBest, {{"large", {}, 2}, {"broken", {}, 0, false}}},
                     {Heuristic::kFallback, {{"slow", {}, 1}}}});
  const auto plan = ChoosePlan(source, {.most_workspace = 1});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->name, "slow");
  EXPECT_EQ(source.calls, (Calls{"best", "build large", "build broken", "fallback", "build slow"}));
}

TEST(ChoosePlan, GivesNoneWhereNoneFits) {
  FakeSource source({{Heuristic::kBest, {{"large", {}, 2}}}, {Heuristic::kFallback, {}}});
  EXPECT_FALSE(ChoosePlan(source, {.most_workspace = 1}).has_value());
  EXPECT_EQ(source.calls, (Calls{"best", "build large", "fallback"}));
}

TEST(ChoosePlan, NeverBuildsWhatIsNotAllowed) {
  FakeSource source({{Heuristic::kBest,
                      {{"atomic", {.nondeterministic = true}},
                       {"half sums", {.narrow_sums = true}},
                       {"winograd", {.transforms = true}},
                       {"tf32", {.tensor_cores = true}},
                       {"exact", {}}}}});
  const auto plan = ChoosePlan(source, {.tensor_cores = false, .most_workspace = 0});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->name, "exact");
  EXPECT_EQ(source.calls, (Calls{"best", "build exact"}));
}

TEST(EngineRules, TensorCoresAreAllowedWhereTheyAreAskedFor) {
  const EngineRules exact{.tensor_cores = false}, fast{.tensor_cores = true};
  EXPECT_TRUE(Allows(fast, {.tensor_cores = true}));
  EXPECT_FALSE(Allows(exact, {.tensor_cores = true}));
  EXPECT_FALSE(Allows(exact, {.narrows_inputs = true}));
  EXPECT_TRUE(Allows(exact, {}));
}

TEST(EngineRules, WhatWouldChangeFromRunToRunNeverIs) {
  for (const bool cores : {false, true}) {
    EXPECT_FALSE(Allows({.tensor_cores = cores}, {.nondeterministic = true}));
    EXPECT_FALSE(Allows({.tensor_cores = cores}, {.narrow_sums = true}));
    EXPECT_FALSE(Allows({.tensor_cores = cores}, {.transforms = true}));
  }
}

}  // namespace
}  // namespace torus::cuda
