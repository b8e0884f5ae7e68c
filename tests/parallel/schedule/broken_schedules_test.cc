// Larger schedules, of four to eight ranks and four to sixteen micro-batches, each with one edit
// that breaks one rule, which must be the reason that the verifier gives.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/gpipe.h"
#include "parallel/schedule/interleaved.h"
#include "parallel/schedule/lowering.h"
#include "parallel/schedule/one_forward_one_backward.h"
#include "parallel/schedule/verifier.h"
#include "parallel/schedule/zero_bubble.h"
#include "runtime/error.h"
#include "tests/parallel/schedule/edit_schedule.h"

namespace torus::parallel {
namespace {

using K = ActionKind;
using testing::Erase;
using testing::Find;
using testing::Insert;
using testing::Move;
using testing::Swap;

struct Broken {
  const char* name;
  Schedule (*make)(const PipelineSize&);
  PipelineSize size;
  bool before_lowering;  // whether the edit is of forwards and backwards alone, as of a CSV file
  std::function<void(Schedule&)> edit;
  const char* reason;
};

// All forwards, then all backwards, of stages that go down the ranks and up again: the rank at the
// turn has two neighbours, between which nothing is sent.
Schedule VShaped(const PipelineSize& size) {
  Schedule schedule{"v", size.ranks, 2 * size.ranks, size.micro_batches, {}};
  for (int rank = 0; rank < size.ranks; ++rank) {
    std::vector<Action>& list = schedule.ranks.emplace_back();
    const int down = rank, up = 2 * size.ranks - 1 - rank;
    for (const int stage : {down, up})
      for (int m = 0; m < size.micro_batches; ++m) list.push_back({K::kForward, stage, m});
    for (const int stage : {up, down})
      for (int m = 0; m < size.micro_batches; ++m) list.push_back({K::kBackward, stage, m});
  }
  return schedule;
}

const std::vector<Broken>& AllBroken() {
  static const std::vector<Broken> all = {
      // Messages.
      {"ASendAfterTheNext",
       GPipe,
       {4, 8},
       false,
       [](Schedule& s) { Move(s, 2, "2sendA3>3", "2recvA5<1"); },
       "message 3 from rank 2 to rank 3: sent is what 3recvA4<2 takes, received by 3recvA3<2"},
      {"NoSendOfAnActivation",
       GPipe,
       {4, 8},
       false,
       [](Schedule& s) { Erase(s, 1, "1sendA7>2"); },
       "rank 1 never runs 1sendA7>2"},
      {"NoSendOfAGradient",
       OneForwardOneBackward,
       {6, 12},
       false,
       [](Schedule& s) { Erase(s, 4, "4sendG11>3"); },
       "rank 4 never runs 4sendG11>3"},
      {"NoReceiveOfAnActivation",
       GPipe,
       {5, 16},
       false,
       [](Schedule& s) { Erase(s, 4, "4recvA9<3"); },
       "rank 4 runs 4F9 before 4recvA9<3"},
      {"NoReceiveOfAGradient",
       OneForwardOneBackward,
       {8, 16},
       false,
       [](Schedule& s) { Erase(s, 3, "3recvG7<4"); },
       "rank 3 runs 3B7 before 3recvG7<4"},
      {"NoReceiveForTheSecondChunk",
       Interleaved,
       {4, 8, 2},
       false,
       [](Schedule& s) { Erase(s, 0, "4recvA5<3"); },
       "rank 0 runs 4F5 before 4recvA5<3"},
      {"ASendToTheWrongRank",
       GPipe,
       {4, 16},
       false,
       [](Schedule& s) { Find(s, 1, "1sendA3>2")->peer = 3; },
       "rank 1 runs 1sendA3>3, but stage 2 is not on rank 3"},
      {"AReceiveFromTheWrongRank",
       ZeroBubbleH1,
       {6, 9},
       false,
       [](Schedule& s) { Find(s, 2, "2recvG8<3")->peer = 1; },
       "rank 2 runs 2recvG8<1, but stage 3 is not on rank 1"},
      {"AReceiveOfTheOtherChunkFirst",
       Interleaved,
       {4, 8, 2},
       false,
       [](Schedule& s) { Move(s, 1, "5recvA0<0", "1recvA3<0"); },
       "message 3 from rank 0 to rank 1: sent is what 1recvA3<0 takes, received by 5recvA0<0"},
      {"AnActivationSentBeforeItIsMade",
       Interleaved,
       {4, 8, 2},
       false,
       [](Schedule& s) { Move(s, 2, "6sendA1>3", "6F1"); },
       "rank 2 runs 6sendA1>3 before 6F1"},
      {"AMessageSentTwice",
       OneForwardOneBackward,
       {5, 10},
       false,
       [](Schedule& s) {
         Insert(s, 2, {K::kSendGradient, 2, 4, 1}, "2step");
       },
       "rank 2 runs 2sendG4>1 twice"},

      // What a stage does.
      {"AForwardTwice",
       GPipe,
       {4, 4},
       false,
       [](Schedule& s) {
         Insert(s, 3, {K::kForward, 3, 2}, "3B0");
       },
       "rank 3 runs 3F2 twice"},
      {"ABackwardBeforeItsForward",
       OneForwardOneBackward,
       {4, 8},
       false,
       [](Schedule& s) { Swap(s, 1, "1B3", "1F3"); },
       "rank 1 runs 1B3 before 1F3"},
      {"AForwardOfAnotherMicroBatch",
       OneForwardOneBackward,
       {4, 8},
       false,
       [](Schedule& s) { Find(s, 2, "2F5")->micro_batch = 6; },
       "rank 2 runs 2F6 before 2recvA6<1"},
      {"AMicroBatchThatThereIsNot",
       OneForwardOneBackward,
       {7, 14},
       false,
       [](Schedule& s) { Find(s, 6, "6F13")->micro_batch = 14; },
       "rank 6 runs 6F14, outside of 14 micro-batches"},
      {"NoBackward",
       GPipe,
       {5, 16},
       false,
       [](Schedule& s) { Erase(s, 3, "3B15"); },
       "rank 3 runs 3sendG15>2 before 3B15"},
      {"NoBackwardBeforeTheReduction",
       OneForwardOneBackward,
       {5, 9},
       false,
       [](Schedule& s) { Erase(s, 0, "0B8"); },
       "rank 0 runs 0reduce before the last backward of its stage"},
      {"NoBackwardOfTheLastChunk",
       Interleaved,
       {4, 5, 3},
       false,
       [](Schedule& s) { Erase(s, 1, "9B4"); },
       "rank 1 runs 9sendG4>0 before 9B4"},
      {"AHalfBesideAWholeBackward",
       OneForwardOneBackward,
       {6, 6},
       false,
       [](Schedule& s) {
         Insert(s, 4, {K::kBackwardInput, 4, 3}, "4reduce");
       },
       "rank 4 runs 4I3 after a backward of that micro-batch"},
      {"AWeightHalfFirst",
       ZeroBubbleH1,
       {4, 6},
       false,
       [](Schedule& s) { Move(s, 2, "2W0", "2I0"); },
       "rank 2 runs 2W0 before 2I0"},
      {"NoWeightHalf",
       ZeroBubbleH1,
       {5, 10},
       false,
       [](Schedule& s) { Erase(s, 2, "2W9"); },
       "rank 2 runs 2reduce before the last backward of its stage"},
      {"AWeightHalfTwice",
       ZeroBubbleH1,
       {4, 6},
       false,
       [](Schedule& s) {
         Insert(s, 3, {K::kBackwardWeight, 3, 1}, "3W2");
       },
       "rank 3 runs 3W1 twice"},
      {"NoInputHalf",
       ZeroBubbleH1,
       {4, 16},
       false,
       [](Schedule& s) { Erase(s, 0, "0I10"); },
       "rank 0 runs 0W10 before 0I10"},
      {"AStageOnTwoRanks",
       OneForwardOneBackward,
       {4, 8},
       false,
       [](Schedule& s) { Find(s, 2, "2F3")->stage = 1; },
       "stage 1 belongs to one rank, got ranks 1 and 2"},
      {"AStageOnNoRank",
       OneForwardOneBackward,
       {4, 4},
       false,
       [](Schedule& s) { s.ranks[3].clear(); },
       "no rank runs stage 3"},

      // The order of sums.
      {"BackwardsDescend",
       GPipe,
       {4, 8},
       true,
       [](Schedule& s) { Swap(s, 2, "2B5", "2B6"); },
       "backwards of a stage must ascend by micro-batch, got 2B5 after micro-batch 6 on rank 2"},
      {"WeightHalvesDescend",
       ZeroBubbleH1,
       {4, 8},
       true,
       [](Schedule& s) { Swap(s, 1, "1W6", "1W7"); },
       "backwards of a stage must ascend by micro-batch, got 1W6 after micro-batch 7 on rank 1"},
      {"AWholeBackwardOvertakesAWeightHalf",
       ZeroBubbleH1,
       {8, 8},
       true,
       [](Schedule& s) {
         Erase(s, 5, "5W4");
         Find(s, 5, "5I4")->kind = K::kBackward;
       },
       "backwards of a stage must ascend by micro-batch, got 5W0 after micro-batch 4 on rank 5"},
      {"BackwardsOfTheSecondChunkDescend",
       Interleaved,
       {4, 8, 2},
       true,
       [](Schedule& s) { Swap(s, 0, "4B5", "4B6"); },
       "backwards of a stage must ascend by micro-batch, got 4B5 after micro-batch 6 on rank 0"},

      // Two neighbours on one rank.
      {"AForwardBeforeItsNeighbours",
       VShaped,
       {4, 6},
       true,
       [](Schedule& s) { Swap(s, 3, "3F2", "4F2"); },
       "rank 3 runs 4F2 before the forward of stage 3 on that micro-batch"},
      {"ABackwardBeforeItsNeighbours",
       VShaped,
       {5, 4},
       true,
       [](Schedule& s) { Move(s, 4, "4B0", "5B0"); },
       "rank 4 runs 4B0 before the backward of stage 5 on that micro-batch"},

      // Reductions and steps.
      {"AStepBeforeItsReduction",
       OneForwardOneBackward,
       {4, 12},
       false,
       [](Schedule& s) { Swap(s, 3, "3step", "3reduce"); },
       "rank 3 runs 3step before 3reduce"},
      {"AReductionAfterAStepOfTheRank",
       Interleaved,
       {4, 4, 2},
       false,
       [](Schedule& s) { Move(s, 2, "6reduce", "6step"); },
       "rank 2 runs 6reduce after 2step"},
      {"NoStep",
       ZeroBubbleH1,
       {7, 7},
       false,
       [](Schedule& s) { Erase(s, 6, "6step"); },
       "stage 6 never steps"},

      // Deadlocks.
      {"AGradientAwaitedBeforeAllForwards",
       GPipe,
       {4, 4},
       false,
       [](Schedule& s) { Move(s, 0, "0recvG0<1", "0F0"); },
       "deadlock: rank 0 at 0recvG0<1, rank 1 at 1recvA0<0, rank 2 at 2recvA0<1, rank 3 at "
       "3recvA0<2"},
      {"AGradientAwaitedBeforeItsActivationIsSent",
       OneForwardOneBackward,
       {8, 4},
       false,
       [](Schedule& s) { Move(s, 6, "6recvG0<7", "6sendA0>7"); },
       "deadlock: rank 0 at 0recvG0<1, rank 1 at 1recvG0<2, rank 2 at 2recvG0<3, rank 3 at "
       "3recvG0<4, rank 4 at 4recvG0<5, rank 5 at 5recvG0<6, rank 6 at 6recvG0<7, rank 7 at "
       "7recvA0<6"},
      {"AForwardTooLate",
       OneForwardOneBackward,
       {4, 8},
       true,
       [](Schedule& s) { Move(s, 0, "0F4", "0F6"); },
       "deadlock: rank 0 at 0recvG2<1, rank 1 at 1recvA4<0, rank 2 at 2recvA4<1, rank 3 at "
       "3recvA4<2"},
      {"TheSecondChunkBeforeTheFirst",
       Interleaved,
       {4, 8, 2},
       true,
       [](Schedule& s) { Move(s, 0, "4F0", "0F0"); },
       "deadlock: rank 0 at 4recvA0<3, rank 1 at 5recvA0<0, rank 2 at 2recvA0<1, rank 3 at "
       "3recvA0<2"},
      {"TheFirstChunksBackwardBeforeTheSeconds",
       Interleaved,
       {4, 8, 2},
       true,
       [](Schedule& s) { Move(s, 0, "0B0", "4B0"); },
       "deadlock: rank 0 at 4recvG3<1, rank 1 at 1recvA7<0, rank 2 at 2recvG0<3, rank 3 at "
       "3recvG0<0"},
      {"TheLastReductionBeforeASend",
       Interleaved,
       {6, 6, 2},
       false,
       [](Schedule& s) { Swap(s, 5, "5sendG5>4", "5reduce"); },
       "deadlock: rank 0 at 0recvG5<1, rank 1 at 1recvG5<2, rank 2 at 2recvG5<3, rank 3 at "
       "3recvG5<4, rank 4 at 4recvG5<5, rank 5 at 5reduce"},
  };
  return all;
}

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.reason; }

class BrokenSchedule : public ::testing::TestWithParam<Broken> {};

INSTANTIATE_TEST_SUITE_P(Verifier, BrokenSchedule, ::testing::ValuesIn(AllBroken()),
                         [](const auto& info) { return info.param.name; });

TEST_P(BrokenSchedule, IsRefusedForItsReason) {
  const Broken& broken = GetParam();
  Schedule schedule = broken.make(broken.size);
  Verify(Lower(schedule));  // accepted as it was
  if (broken.before_lowering) broken.edit(schedule);
  schedule = Lower(schedule);
  if (!broken.before_lowering) broken.edit(schedule);
  try {
    Verify(schedule);
    FAIL() << "accepted:\n" << ToText(schedule);
  } catch (const BadInput& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.substr(0, what.find('\n')), "[schedule] " + schedule.name + ": " + broken.reason)
        << what;
  }
}

}  // namespace
}  // namespace torus::parallel
