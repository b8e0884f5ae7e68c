#include "parallel/schedule/fit.h"

#include <gtest/gtest.h>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/simulator.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

const CostList* const kForward = &kCostLists[0];
const CostList* const kBackward = &kCostLists[1];
const CostList* const kBoundary = &kCostLists[6];

CostModel Costs(double forward, double backward, double bytes) {
  CostModel costs;
  costs.forward.assign(4, forward), costs.backward.assign(4, backward);
  costs.boundary_bytes.assign(4, bytes);
  return costs;
}

double SecondsOf(const Schedule& schedule, CostModel costs, const LinkTable& links) {
  costs.links = links;
  return Simulate(schedule, costs).makespan;
}

TEST(Fit, FindsTheFactorOfOneRun) {
  const Schedule schedule = MakeSchedule("gpipe", {4, 8});
  const LinkTable links({.latency = 0.01, .bandwidth = 1e6});
  const double seconds = SecondsOf(schedule, Costs(0.03, 0.06, 1000), links);
  const CostModel fitted = FitCosts(schedule, Costs(1, 2, 1000), {{kForward, kBackward}},
                                    {{.links = links, .seconds = seconds}});
  EXPECT_NEAR(fitted.forward[0], 0.03, 1e-8);
  EXPECT_NEAR(fitted.backward[3], 0.06, 1e-8);
  EXPECT_EQ(fitted.boundary_bytes[0], 1000);
}

TEST(Fit, FindsTwoFactorsOfThreeRuns) {
  const Schedule schedule = MakeSchedule("1f1b", {4, 8});
  const CostModel real = Costs(0.03, 0.06, 7000);
  std::vector<MeasuredRun> runs;
  for (const double bandwidth : {1e4, 1e5, 1e6}) {
    const LinkTable links({.latency = 0.001, .bandwidth = bandwidth});
    runs.push_back({links, SecondsOf(schedule, real, links)});
  }
  const CostModel fitted =
      FitCosts(schedule, Costs(1, 2, 1e9), {{kForward, kBackward}, {kBoundary}}, runs);
  EXPECT_NEAR(fitted.forward[0], 0.03, 1e-6);
  EXPECT_NEAR(fitted.boundary_bytes[0], 7000, 1);
}

TEST(Fit, RefusesWhatCannotBeFitted) {
  const Schedule schedule = MakeSchedule("gpipe", {4, 8});
  const CostModel costs = Costs(1, 2, 0);
  const std::vector<MeasuredRun> one{{.seconds = 1}};
  EXPECT_THROW(FitCosts(schedule, costs, {}, one), BadInput);
  EXPECT_THROW(FitCosts(schedule, costs, {{kForward}, {kBackward}}, one), BadInput);
  EXPECT_THROW(FitCosts(schedule, costs, {{kBoundary}}, one), BadInput);
  EXPECT_THROW(FitCosts(schedule, costs, {{kForward}}, {{.seconds = 0}}), BadInput);
}

}  // namespace
}  // namespace torus::parallel
