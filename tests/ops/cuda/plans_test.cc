// The choices of a rank, and the scope in which its thread follows them.
#include "ops/cuda/plans.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "runtime/error.h"

namespace torus::cuda {
namespace {

TEST(Plans, ThatMayChooseDifferentlyHaveIdsOfTheirOwn) {
  const Plans first(true), second(true), known(false, {{"a", {1, "one", true}}});
  EXPECT_EQ((std::set<uint64_t>{0, first.id(), second.id(), known.id()}).size(), 4u);
  EXPECT_EQ(Plans().id(), 0u) << "takes the first of all, as without plans";
}

TEST(Plans, KeepAChoice) {
  Plans plans(true);
  EXPECT_EQ(plans.Find("a"), nullptr);
  plans.Add("a", {2, "two", true});
  ASSERT_NE(plans.Find("a"), nullptr);
  EXPECT_EQ(*plans.Find("a"), (PlanChoice{2, "two", true}));
  EXPECT_EQ(plans.Find("b"), nullptr);
  EXPECT_THROW(plans.Add("a", {0, "none", false}), InternalError);
  EXPECT_EQ(plans.Find("a")->index, 2);
}

TEST(WithPlans, HoldsForTheThreadAndUntilItEnds) {
  Plans outer, inner;
  EXPECT_EQ(WithPlans::Current(), nullptr);
  {
    const WithPlans with_outer(&outer);
    {
      const WithPlans with_inner(&inner);
      EXPECT_EQ(WithPlans::Current(), &inner);
      std::thread([] { EXPECT_EQ(WithPlans::Current(), nullptr); }).join();
    }
    EXPECT_EQ(WithPlans::Current(), &outer);
    const WithPlans without(nullptr);
    EXPECT_EQ(WithPlans::Current(), nullptr);
  }
  EXPECT_EQ(WithPlans::Current(), nullptr);
}

TEST(CountFallback, CountsInThePlansOfTheThread) {
  CountFallback("nowhere");
  Plans plans;
  const WithPlans with(&plans);
  CountFallback("a");
  CountFallback("b");
  CountFallback("a");
  EXPECT_EQ(plans.counts().fallbacks, (std::map<std::string, int64_t>{{"a", 2}, {"b", 1}}));
}

TEST(PlanCounts, AddUp) {
  PlanCounts sum{1, 2, 3, 4, {{"a", 5}}};
  sum.Add({10, 20, 30, 40, {{"a", 50}, {"b", 60}}});
  EXPECT_EQ(sum.made, 11);
  EXPECT_EQ(sum.compiled, 22);
  EXPECT_EQ(sum.known, 33);
  EXPECT_EQ(sum.timed, 44);
  EXPECT_EQ(sum.fallbacks, (std::map<std::string, int64_t>{{"a", 55}, {"b", 60}}));
}

}  // namespace
}  // namespace torus::cuda
