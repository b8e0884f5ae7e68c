// Stages cut into finer ones, with weights that are gathered around each.
#include "parallel/schedule/split_stages.h"

#include <gtest/gtest.h>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/lowering.h"
#include "parallel/schedule/printer.h"
#include "parallel/schedule/verifier.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

TEST(SplitStages, TheStaircaseIsThatOfTheParts) {
  EXPECT_EQ(
      ToText(GatherAroundCompute(Lower(SplitStages(MakeSchedule("gpipe", {2, 1}), {2, 1})))),
      "rank 0: 0gather0 0F0 0free0 1gather0 1F0 1free0 1sendA0>1 1recvG0<1 1gather0 1B0 1free0 "
      "1reduce 0gather0 0B0 0free0 0reduce 0step 1step\n"
      "rank 1: 2recvA0<0 2gather0 2F0 2free0 2gather0 2B0 2free0 2sendG0>0 2reduce 2step\n");
}

TEST(SplitStages, EveryScheduleStaysValid) {
  for (const std::string& name : ScheduleNames())
    for (const int ranks : {1, 2, 3})
      for (const int micro_batches : {1, 2, 5}) {
        const Schedule whole = MakeSchedule(name, {ranks, micro_batches, StagesARank(name, 2)});
        std::vector<int> parts;
        for (int s = 0; s < whole.num_stages; ++s) parts.push_back(1 + s % 3);
        const Schedule split = GatherAroundCompute(Lower(SplitStages(whole, parts)));
        EXPECT_NO_THROW(Verify(split)) << name << " " << ranks << " " << micro_batches;
      }
}

TEST(SplitStages, RefusesOtherCounts) {
  const Schedule schedule = MakeSchedule("1f1b", {2, 2});
  EXPECT_THROW(SplitStages(schedule, {1}), BadInput);
  EXPECT_THROW(SplitStages(schedule, {1, 0}), BadInput);
}

std::string Refusal(const Schedule& schedule) {
  try {
    Verify(schedule);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

// Without one of its actions, or with one twice.
TEST(GatherAroundCompute, EachGatherAndFreeIsNeeded) {
  const Schedule good = GatherAroundCompute(MakeSchedule("zb-h1", {2, 2}));
  EXPECT_EQ(Refusal(good), "");
  for (size_t rank = 0; rank < 2; ++rank)
    for (size_t i = 0; i < good.ranks[rank].size(); ++i) {
      if (!IsOfWeights(good.ranks[rank][i].kind)) continue;
      Schedule without = good, twice = good;
      without.ranks[rank].erase(without.ranks[rank].begin() + static_cast<ptrdiff_t>(i));
      twice.ranks[rank].insert(twice.ranks[rank].begin() + static_cast<ptrdiff_t>(i),
                               good.ranks[rank][i]);
      for (const Schedule& bad : {without, twice})
        EXPECT_NE(Refusal(bad).find("weights of"), std::string::npos)
            << rank << " " << i << ": " << Refusal(bad);
    }
}

}  // namespace
}  // namespace torus::parallel
