// Broken schedules, each found by the rule it breaks.
#include "parallel/schedule/verifier.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/lowering.h"
#include "parallel/schedule/printer.h"
#include "runtime/error.h"
#include "tests/parallel/schedule/edit_schedule.h"

namespace torus::parallel {
namespace {

using K = ActionKind;
using testing::Erase;
using testing::Find;
using testing::Swap;

void ExpectBroken(const Schedule& schedule, const std::string& message) {
  try {
    Verify(schedule);
    FAIL() << "accepted, though: " << message;
  } catch (const BadInput& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.substr(0, what.find('\n')), "[schedule] gpipe: " + message);
  }
}

TEST(Verifier, AcceptsGPipeOfEverySizeAndCountsWhatIsInFlight) {
  for (int stages = 1; stages <= 5; ++stages) {
    for (int m = 1; m <= 6; ++m) {
      EXPECT_EQ(Verify(MakeSchedule("gpipe", {stages, m})).in_flight, std::vector<int>(stages, m));
    }
  }
}

TEST(Verifier, OneForwardOneBackwardHasLessInFlight) {
  Schedule s{
      "1f1b",
      2,
      2,
      2,
      {{{K::kForward, 0, 0}, {K::kForward, 0, 1}, {K::kBackward, 0, 0}, {K::kBackward, 0, 1}},
       {{K::kForward, 1, 0}, {K::kBackward, 1, 0}, {K::kForward, 1, 1}, {K::kBackward, 1, 1}}}};
  EXPECT_EQ(Verify(Lower(s)).in_flight, (std::vector<int>{2, 1}));
}

TEST(Verifier, AcceptsSplitHalvesAndNeighboursOnOneRank) {
  Schedule s{"v",
             2,
             3,
             1,
             {{{K::kForward, 0, 0}, {K::kBackwardInput, 0, 0}, {K::kBackwardWeight, 0, 0}},
              {{K::kForward, 1, 0},
               {K::kForward, 2, 0},
               {K::kBackward, 2, 0},
               {K::kBackwardInput, 1, 0},
               {K::kBackwardWeight, 1, 0}}}};
  EXPECT_EQ(ToText(Lower(s)),
            "rank 0: 0F0 0sendA0>1 0recvG0<1 0I0 0W0 0reduce 0step\n"
            "rank 1: 1recvA0<0 1F0 2F0 2B0 2reduce 1I0 1sendG0>0 1W0 1reduce 1step 2step\n");
  EXPECT_EQ(Verify(Lower(s)).in_flight, (std::vector<int>{1, 1, 1}));
}

TEST(Verifier, BackwardBeforeForward) {
  Schedule s = MakeSchedule("gpipe", {1, 2});
  Swap(s, 0, "0F1", "0B1");
  ExpectBroken(s, "rank 0 runs 0B1 before 0F1");
}

TEST(Verifier, ShowsTheListsAroundThePlace) {
  Schedule s = MakeSchedule("gpipe", {2, 1});
  Swap(s, 1, "1F0", "1B0");
  try {
    Verify(s);
    FAIL() << "accepted";
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(),
                 "[schedule] gpipe: rank 1 runs 1B0 before 1F0\n"
                 "  rank 0 | 0F0       0sendA0>1 0recvG0<1 0B0       0reduce 0step\n"
                 "  rank 1 | 1recvA0<0 1B0       1F0       1sendG0>0 1reduce 1step\n"
                 "                     ^");
  }
}

TEST(Verifier, DescendingBackwards) {
  Schedule s = MakeSchedule("gpipe", {1, 2});
  Swap(s, 0, "0B0", "0B1");
  ExpectBroken(
      s, "backwards of a stage must ascend by micro-batch, got 0B0 after micro-batch 1 on rank 0");
}

TEST(Verifier, MissingActions) {
  for (const auto& [rank, gone, message] : std::vector<std::tuple<int, std::string, std::string>>{
           {0, "0F1", "rank 0 runs 0sendA1>1 before 0F1"},
           {0, "0B1", "rank 0 runs 0reduce before the last backward of its stage"},
           {0, "0sendA1>1", "rank 0 never runs 0sendA1>1"},
           {1, "1recvA1<0", "rank 1 runs 1F1 before 1recvA1<0"},
           {1, "1sendG0>0", "rank 1 never runs 1sendG0>0"},
           {0, "0recvG0<1", "rank 0 runs 0B0 before 0recvG0<1"},
           {1, "1step", "stage 1 never steps"},
           {1, "1reduce", "rank 1 runs 1step before 1reduce"}}) {
    Schedule s = MakeSchedule("gpipe", {2, 2});
    Erase(s, rank, gone);
    ExpectBroken(s, message);
  }
}

TEST(Verifier, TheSameActionTwice) {
  Schedule s = MakeSchedule("gpipe", {1, 1});
  s.ranks[0].push_back(s.ranks[0].front());
  ExpectBroken(s, "rank 0 runs 0F0 twice");
}

TEST(Verifier, WholeAndHalfBackwardOfOneMicroBatch) {
  Schedule s = MakeSchedule("gpipe", {1, 1});
  s.ranks[0].insert(Find(s, 0, "0reduce"), Action{K::kBackwardInput, 0, 0});
  ExpectBroken(s, "rank 0 runs 0I0 after a backward of that micro-batch");
}

TEST(Verifier, WrongPeer) {
  Schedule s = MakeSchedule("gpipe", {3, 1});
  Find(s, 0, "0sendA0>1")->peer = 2;
  ExpectBroken(s, "rank 0 runs 0sendA0>2, but stage 1 is not on rank 2");
}

// Both stages on one rank, so that nothing is received between them.
Schedule TwoStagesOnOneRank() {
  return {"gpipe",
          1,
          2,
          1,
          {{{K::kForward, 0, 0}, {K::kForward, 1, 0}, {K::kBackward, 1, 0}, {K::kBackward, 0, 0}}}};
}

TEST(Verifier, ForwardBeforeThatOfTheStageBeforeOnItsRank) {
  Schedule s = Lower(TwoStagesOnOneRank());
  Verify(s);
  Swap(s, 0, "0F0", "1F0");
  ExpectBroken(s, "rank 0 runs 1F0 before the forward of stage 0 on that micro-batch");
}

TEST(Verifier, BackwardBeforeThatOfTheStageBehindOnItsRank) {
  Schedule s = Lower(TwoStagesOnOneRank());
  Swap(s, 0, "0B0", "1B0");
  Swap(s, 0, "0reduce", "1reduce");
  ExpectBroken(s, "rank 0 runs 0B0 before the backward of stage 1 on that micro-batch");
}

TEST(Verifier, BackwardToTheInputsBeforeThatOfTheStageBehindOnItsRank) {
  Schedule s = TwoStagesOnOneRank();
  s.ranks[0] = {{K::kForward, 0, 0},       {K::kForward, 1, 0},        {K::kBackwardInput, 0, 0},
                {K::kBackwardInput, 1, 0}, {K::kBackwardWeight, 1, 0}, {K::kBackwardWeight, 0, 0}};
  ExpectBroken(Lower(s), "rank 0 runs 0I0 before the backward of stage 1 on that micro-batch");
}

// A schedule of one stage and two micro-batches with these backwards.
Schedule WithBackwards(const std::vector<Action>& backwards) {
  Schedule s{"gpipe", 1, 1, 2, {{{K::kForward, 0, 0}, {K::kForward, 0, 1}}}};
  s.ranks[0].insert(s.ranks[0].end(), backwards.begin(), backwards.end());
  return Lower(s);
}

TEST(Verifier, WeightGradientsInDescendingOrderAcrossKinds) {
  ExpectBroken(
      WithBackwards({{K::kBackwardInput, 0, 0}, {K::kBackward, 0, 1}, {K::kBackwardWeight, 0, 0}}),
      "backwards of a stage must ascend by micro-batch, got 0W0 after micro-batch 1 on rank 0");
  ExpectBroken(
      WithBackwards({{K::kBackward, 0, 1}, {K::kBackwardInput, 0, 0}, {K::kBackwardWeight, 0, 0}}),
      "backwards of a stage must ascend by micro-batch, got 0I0 after micro-batch 1 on rank 0");
}

TEST(Verifier, AcceptsHalvesApartAndWholeOnesAmongThem) {
  Verify(WithBackwards({{K::kBackwardInput, 0, 0},
                        {K::kBackwardInput, 0, 1},
                        {K::kBackwardWeight, 0, 0},
                        {K::kBackwardWeight, 0, 1}}));
  Verify(
      WithBackwards({{K::kBackward, 0, 0}, {K::kBackwardInput, 0, 1}, {K::kBackwardWeight, 0, 1}}));
}

TEST(Verifier, ReduceAfterAStepOfTheRank) {
  Schedule s = Lower(TwoStagesOnOneRank());
  const auto step = Find(s, 0, "1step");
  std::rotate(Find(s, 0, "0reduce"), step, step + 1);
  ExpectBroken(s, "rank 0 runs 0reduce after 1step");
}

// The norm for clipping is a sum over all ranks, made at each one's last reduction: rank 1 must not
// begin it while rank 0 still waits for its gradient.
TEST(Verifier, LastReduceBeforeASendThatAnotherRankNeedsForIts) {
  Schedule s = MakeSchedule("gpipe", {2, 1});
  Swap(s, 1, "1sendG0>0", "1reduce");
  ExpectBroken(s, "deadlock: rank 0 at 0recvG0<1, rank 1 at 1reduce");
}

TEST(Verifier, ARankWithoutAStage) {
  Schedule s = MakeSchedule("gpipe", {1, 1});
  s.num_ranks = 2;
  s.ranks.emplace_back();
  ExpectBroken(s, "rank 1 runs no stage");
}

TEST(Verifier, AnEarlierReduceWaitsForNobody) {
  Schedule s{
      "v",
      2,
      3,
      1,
      {{{K::kForward, 0, 0}, {K::kForward, 2, 0}, {K::kBackward, 2, 0}, {K::kBackward, 0, 0}},
       {{K::kForward, 1, 0}, {K::kBackward, 1, 0}}}};
  s = Lower(s);
  Swap(s, 0, "2sendG0>1", "2reduce");  // rank 0 has the reduction of stage 0 still before it
  Verify(s);
}

TEST(Verifier, MicroBatchOutOfRange) {
  Schedule s = MakeSchedule("gpipe", {1, 1});
  s.ranks[0].insert(s.ranks[0].begin(), Action{K::kForward, 0, 1});
  ExpectBroken(s, "rank 0 runs 0F1, outside of 1 micro-batches");
}

TEST(Verifier, AStageOnTwoRanks) {
  Schedule s = MakeSchedule("gpipe", {2, 1});
  Find(s, 1, "1F0")->stage = 0;
  ExpectBroken(s, "stage 0 belongs to one rank, got ranks 0 and 1");
}

TEST(Verifier, LinkOrder) {
  Schedule s = MakeSchedule("gpipe", {2, 2});
  Swap(s, 1, "1recvA0<0", "1recvA1<0");
  Swap(s, 1, "1F0", "1F1");
  ExpectBroken(
      s, "message 0 from rank 0 to rank 1: sent is what 1recvA0<0 takes, received by 1recvA1<0");
}

TEST(Verifier, Deadlock) {
  // Rank 0 asks for the gradient of micro-batch 0 before it sends the activation that it comes
  // from.
  Schedule s = MakeSchedule("gpipe", {2, 1});
  std::vector<Action>& list = s.ranks[0];
  const auto recv = Find(s, 0, "0recvG0<1");
  std::rotate(list.begin(), recv, recv + 1);
  ExpectBroken(s, "deadlock: rank 0 at 0recvG0<1, rank 1 at 1recvA0<0");
}

}  // namespace
}  // namespace torus::parallel
