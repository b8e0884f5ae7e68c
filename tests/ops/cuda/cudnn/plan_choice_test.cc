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

// The Engines of ChooseEngine that notes each call.
class FakeEngines {
 public:
  explicit FakeEngines(std::map<Heuristic, std::vector<Proposal>> lists)
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

  std::string Text(int64_t i) const { return At(i).name; }
  double Seconds(const FakePlan& plan) const { return static_cast<double>(plan.name.size()); }

  std::vector<std::string> calls;

 private:
  const Proposal& At(int64_t i) const { return current_->at(static_cast<size_t>(i)); }

  std::map<Heuristic, std::vector<Proposal>> lists_;
  std::vector<Proposal>* current_ = nullptr;
};

using Calls = std::vector<std::string>;

TEST(ChooseEngine, TakesTheFirstWithinTheWorkspace) {
  FakeEngines source(
      {{Heuristic::kBest, {{"large", {}, 101}, {"fits", {}, 100}, {"small", {}, 0}}}});
  const auto plan = ChooseEngine(source, {.most_workspace = 100});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->name, "fits");
  EXPECT_EQ(source.calls, (Calls{"best", "build large", "build fits"}));
}

TEST(ChooseEngine, AsksForTheFallbackOnlyWhereTheBestHasNone) {
  FakeEngines source({{Heuristic::kBest, {{"large", {}, 2}, {"broken", {}, 0, false}}},
                      {Heuristic::kFallback, {{"slow", {}, 1}}}});
  const auto plan = ChooseEngine(source, {.most_workspace = 1});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->name, "slow");
  EXPECT_EQ(source.calls, (Calls{"best", "build large", "build broken", "fallback", "build slow"}));
}

TEST(ChooseEngine, GivesNoneWhereNoneFits) {
  FakeEngines source({{Heuristic::kBest, {{"large", {}, 2}}}, {Heuristic::kFallback, {}}});
  EXPECT_FALSE(ChooseEngine(source, {.most_workspace = 1}).has_value());
  EXPECT_EQ(source.calls, (Calls{"best", "build large", "fallback"}));
}

TEST(ChooseEngine, NeverBuildsWhatIsNotAllowed) {
  FakeEngines source({{Heuristic::kBest,
                       {{"atomic", {.nondeterministic = true}},
                        {"half sums", {.narrow_sums = true}},
                        {"winograd", {.transforms = true}},
                        {"tf32", {.tensor_cores = true}},
                        {"exact", {}}}}});
  const auto plan = ChooseEngine(source, {.tensor_cores = false, .most_workspace = 0});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->name, "exact");
  EXPECT_EQ(source.calls, (Calls{"best", "build exact"}));
}

TEST(ChooseEngine, TimesOnlyWhatIsAllowedAndFits) {
  FakeEngines source({{Heuristic::kBest,
                       {{"a", {.nondeterministic = true}},
                        {"ab", {}, 101},
                        {"abcde", {}, 0},
                        {"abc", {}, 100},
                        {"abcd", {}, 0}}}});
  Plans plans(true);
  const auto plan = ChooseEngine(source, {.most_workspace = 100}, {"x", &plans});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->name, "abc");
  EXPECT_EQ(plans.choices(), (PlanChoices{{"x", {3, "abc", true}}}));
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
