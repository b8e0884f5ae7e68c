// The rule by which a proposal is taken, over lists that note what they are asked.
#include "ops/cuda/choose_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/testing/error_of.h"

namespace torus::cuda {
namespace {

using testing::ErrorOf;

struct ListedPlan {
  std::string name;
};

struct Listed {
  std::string name;
  double seconds = 1;  // below 0: it cannot be run
  bool allowed = true, builds = true;
};

// A Source with two lists.
class Lists {
 public:
  static constexpr int kLists = 2;

  Lists(std::vector<Listed> first, std::vector<Listed> second = {})
      : lists_{std::move(first), std::move(second)} {}

  int64_t Propose(int list) {
    list_ = list;
    return std::ssize(lists_[list]);
  }
  bool IsAllowed(int64_t i) const { return At(i).allowed; }
  std::string Text(int64_t i) const { return At(i).name; }
  std::optional<ListedPlan> Build(int64_t i) {
    built.push_back(At(i).name);
    if (!At(i).builds) return std::nullopt;
    return ListedPlan{At(i).name};
  }
  double Seconds(const ListedPlan& plan) {
    timed.push_back(plan.name);
    for (const Listed& each : lists_[list_])
      if (each.name == plan.name && each.seconds >= 0) return each.seconds;
    Throw<BrokenEnvironment>("lists", "{} cannot be run", plan.name);
  }

  std::vector<std::string> built, timed;

 private:
  const Listed& At(int64_t i) const { return lists_[list_].at(static_cast<size_t>(i)); }

  std::vector<Listed> lists_[kLists];
  int list_ = 0;
};

using Names = std::vector<std::string>;

std::string Taken(Lists& lists, const PlanQuestion& question) {
  const auto plan = ChoosePlan(lists, question);
  return plan.has_value() ? plan->name : "none";
}

TEST(ChoosePlan, TakesTheFirstWithoutPlans) {
  Lists lists({{"slow", 3}, {"quick", 1}});
  EXPECT_EQ(Taken(lists, {"x"}), "slow");
  EXPECT_EQ(lists.built, Names{"slow"});
  EXPECT_EQ(lists.timed, Names());
}

TEST(ChoosePlan, TimesNothingUnlessItAutotunes) {
  Lists lists({{"slow", 3}, {"quick", 1}});
  Plans plans(false, {{"other", {1, "quick", true}}});
  EXPECT_EQ(Taken(lists, {"x", &plans}), "slow");
  EXPECT_EQ(lists.timed, Names());
  EXPECT_EQ(plans.choices().size(), 1u);
  EXPECT_EQ(plans.counts().made, 1);
  EXPECT_EQ(plans.counts().timed, 0);
}

TEST(ChoosePlan, TakesTheQuickestAndKeepsIt) {
  Lists lists({{"slow", 3}, {"quick", 1}, {"middle", 2}});
  Plans plans(true);
  EXPECT_EQ(Taken(lists, {"x", &plans}), "quick");
  EXPECT_EQ(plans.choices(), (PlanChoices{{"x", {1, "quick", true}}}));
  EXPECT_EQ(plans.counts().made, 1);
  EXPECT_EQ(plans.counts().timed, 3);
  EXPECT_EQ(plans.counts().known, 0);
}

TEST(ChoosePlan, TakesTheFirstOfSeveralThatAreAsQuick) {
  Lists lists({{"slow", 3}, {"one", 1}, {"other", 1}});
  Plans plans(true);
  EXPECT_EQ(Taken(lists, {"x", &plans}), "one");
}

TEST(ChoosePlan, NeverTimesWhatIsNotAllowedOrCannotBeBuilt) {
  Lists lists({{"forbidden", 0, false}, {"broken", 0, true, false}, {"a", 2}, {"b", 1}});
  Plans plans(true);
  EXPECT_EQ(Taken(lists, {"x", &plans}), "b");
  EXPECT_EQ(lists.timed, (Names{"a", "b"}));
  EXPECT_EQ(plans.Find("x")->index, 3) << "counts what was passed over too";
}

TEST(ChoosePlan, WhatCannotBeRunIsNeverTheQuickest) {
  Lists lists({{"breaks", -1}, {"runs", 9}});
  Plans plans(true);
  EXPECT_EQ(Taken(lists, {"x", &plans}), "runs");
}

TEST(ChoosePlan, BuildsOnlySoMany) {
  std::vector<Listed> many;
  for (int i = 0; i < 3 * kMostTimed; ++i) many.push_back({std::to_string(i), 100.0 - i});
  Lists lists(many);
  Plans plans(true);
  EXPECT_EQ(Taken(lists, {"x", &plans}), std::to_string(kMostTimed - 1));
  EXPECT_EQ(std::ssize(lists.built), kMostTimed);
}

// While a graph is recorded nothing runs. The choice stays, so that a resumed run has it too.
TEST(ChoosePlan, WithoutTimeTakesTheFirstAndKeepsIt) {
  Lists lists({{"slow", 3}, {"quick", 1}});
  Plans plans(true);
  EXPECT_EQ(Taken(lists, {"x", &plans, false}), "slow");
  EXPECT_EQ(lists.timed, Names());
  EXPECT_EQ(plans.choices(), (PlanChoices{{"x", {0, "slow", false}}}));
  EXPECT_EQ(Taken(lists, {"x", &plans, true}), "slow");
  EXPECT_EQ(lists.timed, Names());
}

TEST(ChoosePlan, FollowsAChoiceWithoutTiming) {
  Lists lists({{"slow", 3}, {"quick", 1}, {"chosen", 2}});
  for (const bool autotune : {false, true}) {
    Plans plans(autotune, {{"x", {2, "chosen", true}}});
    EXPECT_EQ(Taken(lists, {"x", &plans}), "chosen");
    EXPECT_EQ(plans.counts().known, 1);
    EXPECT_EQ(plans.counts().made, 1);
    EXPECT_EQ(plans.counts().timed, 0);
  }
  EXPECT_EQ(lists.timed, Names());
  EXPECT_EQ(lists.built, (Names{"chosen", "chosen"}));
}

TEST(ChoosePlan, AsksForTheLaterListOnlyWhereTheFirstHasNone) {
  Lists lists({{"forbidden", 0, false}}, {{"a", 2}, {"b", 1}});
  Plans plans(true);
  EXPECT_EQ(Taken(lists, {"x", &plans}), "b");
  EXPECT_EQ(*plans.Find("x"), (PlanChoice{2, "b", true})) << "behind the first list";
  Plans known(false, plans.choices());
  EXPECT_EQ(Taken(lists, {"x", &known}), "b");
}

TEST(ChoosePlan, NoPlanIsNoChoice) {
  Lists lists({{"forbidden", 0, false}});
  Plans plans(true);
  EXPECT_EQ(Taken(lists, {"x", &plans}), "none");
  EXPECT_TRUE(plans.choices().empty());
  EXPECT_EQ(plans.counts().made, 0);
}

TEST(ChoosePlan, NoticesThatTheListHasChanged) {
  Lists lists({{"a"}, {"b"}, {"broken", 1, true, false}, {"forbidden", 1, false}});
  const auto error = [&](const PlanChoice& choice) {
    Plans plans(true, {{"x", choice}});
    return ErrorOf<BrokenEnvironment>([&] { Taken(lists, {"x", &plans}); });
  };
  EXPECT_EQ(error({1, "c", true}),
            "[plans] x: proposal 1 was c when it was chosen, now it is b; --plans none goes "
            "on without the choices");
  EXPECT_EQ(error({2, "broken", true}),
            "[plans] x: proposal 2, broken, was chosen and cannot be built any more; --plans none "
            "goes on without the choices");
  EXPECT_NE(error({3, "forbidden", true}), "no error");
  EXPECT_EQ(error({7, "c", true}),
            "[plans] x: proposal 7 was chosen, and now there are only 4; --plans none goes on "
            "without the choices");
}

}  // namespace
}  // namespace torus::cuda
