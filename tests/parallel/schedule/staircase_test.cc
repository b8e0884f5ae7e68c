// The staircases of GPipe, drawn by hand.
#include <gtest/gtest.h>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/gpipe.h"
#include "parallel/schedule/interleaved.h"
#include "parallel/schedule/lowering.h"
#include "parallel/schedule/one_forward_one_backward.h"
#include "parallel/schedule/printer.h"
#include "parallel/schedule/u_shaped.h"
#include "parallel/schedule/zero_bubble.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

TEST(GPipe, OneStage) { EXPECT_EQ(Staircase(GPipe({1, 2})), "rank 0 | F0 F1 B0 B1\n"); }

TEST(GPipe, OneMicroBatch) {
  EXPECT_EQ(Staircase(GPipe({3, 1})),
            "rank 0 | F0 .. .. .. .. B0\n"
            "rank 1 | .. F0 .. .. B0 ..\n"
            "rank 2 | .. .. F0 B0 .. ..\n");
}

TEST(GPipe, TwoStagesFourMicroBatches) {
  EXPECT_EQ(Staircase(GPipe({2, 4})),
            "rank 0 | F0 F1 F2 F3 .. .. B0 B1 B2 B3\n"
            "rank 1 | .. F0 F1 F2 F3 B0 B1 B2 B3 ..\n");
}

TEST(GPipe, FourStagesThreeMicroBatches) {
  EXPECT_EQ(Staircase(GPipe({4, 3})),
            "rank 0 | F0 F1 F2 .. .. .. .. .. .. B0 B1 B2\n"
            "rank 1 | .. F0 F1 F2 .. .. .. .. B0 B1 B2 ..\n"
            "rank 2 | .. .. F0 F1 F2 .. .. B0 B1 B2 .. ..\n"
            "rank 3 | .. .. .. F0 F1 F2 B0 B1 B2 .. .. ..\n");
}

TEST(GPipe, LoweringDoesNotMoveTheStaircase) {
  EXPECT_EQ(Staircase(MakeSchedule("gpipe", {4, 3})), Staircase(GPipe({4, 3})));
}

TEST(OneForwardOneBackward, ThreeStagesFourMicroBatches) {
  EXPECT_EQ(Staircase(OneForwardOneBackward({3, 4})),
            "rank 0 | F0 F1 F2 .. .. B0 F3 B1 .. B2 .. B3\n"
            "rank 1 | .. F0 F1 .. B0 F2 B1 F3 B2 .. B3 ..\n"
            "rank 2 | .. .. F0 B0 F1 B1 F2 B2 F3 B3 .. ..\n");
}

TEST(OneForwardOneBackward, FewerMicroBatchesThanStages) {
  EXPECT_EQ(Staircase(OneForwardOneBackward({3, 1})), Staircase(GPipe({3, 1})));
}

TEST(Interleaved, TwoRanksTwoChunks) {
  EXPECT_EQ(Staircase(Interleaved({2, 2, 2})),
            "rank 0 | 0F0 0F1 2F0 2F1 ..  2B0 ..  2B1 0B0 0B1\n"
            "rank 1 | ..  1F0 1F1 3F0 3B0 3F1 3B1 1B0 1B1 ..\n");
}

TEST(Interleaved, ALastGroupOfOne) {
  EXPECT_EQ(Staircase(Interleaved({2, 3, 2})),
            "rank 0 | 0F0 0F1 2F0 2F1 0F2 2B0 ..  2B1 2F2 0B0 0B1 ..  2B2 ..  0B2\n"
            "rank 1 | ..  1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1B1 3F2 3B2 ..  1B2 ..\n");
}

TEST(Interleaved, OneChunkIsOneForwardOneBackward) {
  EXPECT_EQ(Interleaved({4, 7}).ranks, OneForwardOneBackward({4, 7}).ranks);
}

TEST(InterleavedZeroBubble, TwoRanksTwoChunks) {
  EXPECT_EQ(Staircase(InterleavedZeroBubble({2, 2, 2})),
            "rank 0 | 0F0 0F1 2F0 2F1 ..  2I0 2W0 2I1 2W1 0I0 0W0 0I1 0W1\n"
            "rank 1 | ..  1F0 1F1 3F0 3I0 3F1 3I1 3W0 1I0 3W1 1I1 1W0 1W1\n");
}

TEST(InterleavedZeroBubble, OneChunkIsZeroBubbleH1) {
  EXPECT_EQ(InterleavedZeroBubble({4, 7}).ranks, ZeroBubbleH1({4, 7}).ranks);
}

TEST(ZeroBubbleH1, ThreeStagesFourMicroBatches) {
  EXPECT_EQ(Staircase(ZeroBubbleH1({3, 4})),
            "rank 0 | F0 F1 F2 .. .. I0 W0 F3 I1 W1 I2 W2 I3 W3\n"
            "rank 1 | .. F0 F1 .. I0 F2 I1 W0 F3 I2 W1 I3 W2 W3\n"
            "rank 2 | .. .. F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3\n");
}

TEST(ZeroBubbleH1, FewerMicroBatchesThanStages) {
  EXPECT_EQ(Staircase(ZeroBubbleH1({3, 2})),
            "rank 0 | F0 F1 .. .. .. I0 W0 I1 W1\n"
            "rank 1 | .. F0 F1 .. I0 .. I1 W0 W1\n"
            "rank 2 | .. .. F0 I0 F1 I1 W0 W1 ..\n");
}

TEST(UShaped, TwoRanksTwoMicroBatches) {
  EXPECT_EQ(Staircase(UShaped({2, 2})),
            "rank 0 | 0F0 0F1 2F0 2F1 2B0 2B1 0B0 0B1\n"
            "rank 1 | ..  1F0 1F1 ..  ..  1B0 1B1 ..\n");
}

TEST(UShaped, ThreeRanksTwoMicroBatches) {
  EXPECT_EQ(Staircase(UShaped({3, 2})),
            "rank 0 | 0F0 0F1 ..  3F0 3F1 3B0 3B1 ..  0B0 0B1\n"
            "rank 1 | ..  1F0 1F1 ..  ..  ..  ..  1B0 1B1 ..\n"
            "rank 2 | ..  ..  2F0 2F1 ..  ..  2B0 2B1 ..  ..\n");
}

TEST(UShaped, OneRankHasBothStages) {
  EXPECT_EQ(Staircase(UShaped({1, 2})), "rank 0 | 0F0 0F1 1F0 1F1 1B0 1B1 0B0 0B1\n");
}

TEST(Staircase, NamesTheStageWhereARankHasSeveral) {
  Schedule looped{"looped",
                  1,
                  2,
                  1,
                  {{{ActionKind::kForward, 0, 0},
                    {ActionKind::kForward, 1, 0},
                    {ActionKind::kBackward, 1, 0},
                    {ActionKind::kBackward, 0, 0}}}};
  EXPECT_EQ(Staircase(looped), "rank 0 | 0F0 1F0 1B0 0B0\n");
}

TEST(Staircase, ShowsSplitHalves) {
  Schedule split{"split",
                 1,
                 1,
                 1,
                 {{{ActionKind::kForward, 0, 0},
                   {ActionKind::kBackwardInput, 0, 0},
                   {ActionKind::kBackwardWeight, 0, 0}}}};
  EXPECT_EQ(Staircase(split), "rank 0 | F0 I0 W0\n");
}

TEST(Staircase, AWholeBackwardBesideHalvesTakesTwoSlots) {
  Schedule mixed{"mixed",
                 1,
                 1,
                 2,
                 {{{ActionKind::kForward, 0, 0},
                   {ActionKind::kForward, 0, 1},
                   {ActionKind::kBackward, 0, 0},
                   {ActionKind::kBackwardInput, 0, 1},
                   {ActionKind::kBackwardWeight, 0, 1}}}};
  EXPECT_EQ(Staircase(mixed), "rank 0 | F0 F1 B0 -- I1 W1\n");
}

TEST(Lowering, InsertsWhatARankRuns) {
  EXPECT_EQ(ToText(MakeSchedule("gpipe", {3, 2})),
            "rank 0: 0F0 0sendA0>1 0F1 0sendA1>1 0recvG0<1 0B0 0recvG1<1 0B1 0reduce 0step\n"
            "rank 1: 1recvA0<0 1F0 1sendA0>2 1recvA1<0 1F1 1sendA1>2 1recvG0<2 1B0 1sendG0>0 "
            "1recvG1<2 1B1 1sendG1>0 1reduce 1step\n"
            "rank 2: 2recvA0<1 2F0 2recvA1<1 2F1 2B0 2sendG0>1 2B1 2sendG1>1 2reduce 2step\n");
}

// Rank 0 sends stage 0's second result before stage 2's first, which rank 1 needs earlier.
TEST(Lowering, ReceivesInTheOrderOfTheSender) {
  const Schedule schedule{"loop",
                          2,
                          4,
                          2,
                          {{{ActionKind::kForward, 0, 0},
                            {ActionKind::kForward, 0, 1},
                            {ActionKind::kForward, 2, 0},
                            {ActionKind::kForward, 2, 1}},
                           {{ActionKind::kForward, 1, 0},
                            {ActionKind::kForward, 3, 0},
                            {ActionKind::kForward, 1, 1},
                            {ActionKind::kForward, 3, 1}}}};
  EXPECT_EQ(ToText(Lower(schedule)),
            "rank 0: 0F0 0sendA0>1 0F1 0sendA1>1 2recvA0<1 2F0 2sendA0>1 2recvA1<1 2F1 2sendA1>1 "
            "0step 2step\n"
            "rank 1: 1recvA0<0 1F0 1sendA0>0 1recvA1<0 3recvA0<0 3F0 1F1 1sendA1>0 3recvA1<0 3F1 "
            "1step 3step\n");
}

TEST(Lowering, OneStageHasNobodyToTalkTo) {
  EXPECT_EQ(ToText(MakeSchedule("gpipe", {1, 1})), "rank 0: 0F0 0B0 0reduce 0step\n");
}

TEST(Factory, TheSizeFollowsFromTheStages) {
  EXPECT_EQ(SizeOf("gpipe", 4, 2, 1).ranks, 4);
  EXPECT_EQ(SizeOf("interleaved", 6, 2, 3).ranks, 2);
  const PipelineSize size = SizeOf("u-shaped", 4, 2, 1);
  EXPECT_EQ(size.ranks, 3);
  EXPECT_EQ(size.stages(), 4);
  const auto refusal = [](const char* name, int64_t stages, int64_t chunks) -> std::string {
    try {
      SizeOf(name, stages, 1, chunks);
    } catch (const BadInput& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(
      refusal("u-shaped", 1, 1),
      "[schedule] u-shaped runs 1 stage per rank and one more on the first rank, which cannot "
      "make 1 in all");
  EXPECT_EQ(refusal("interleaved", 5, 2),
            "[schedule] interleaved runs 2 stages per rank, which cannot make 5 in all");
  EXPECT_EQ(refusal("gpipe", 0, 1),
            "[schedule] gpipe runs 1 stage per rank, which cannot make 0 in all");
}

TEST(Factory, ListsTheNames) {
  try {
    MakeSchedule("pipedream", {2, 4});
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(),
                 "[schedule] unknown schedule \"pipedream\"; there are: gpipe, 1f1b, "
                 "interleaved, zb-h1, zb-interleaved, u-shaped, zb-v, v-half, v-min, dualpipe-v, "
                 "csv:FILE");
  }
  EXPECT_THROW(MakeSchedule("gpipe", {0, 4}), BadInput);
  EXPECT_THROW(MakeSchedule("gpipe", {2, 0}), BadInput);
  EXPECT_THROW(MakeSchedule("interleaved", {2, 4, 0}), BadInput);
  EXPECT_THROW(MakeSchedule("1f1b", {2, 4, 2}), BadInput);
}

}  // namespace
}  // namespace torus::parallel
