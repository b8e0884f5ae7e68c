// The staircases of GPipe, drawn by hand.
#include <gtest/gtest.h>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/gpipe.h"
#include "parallel/schedule/printer.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

TEST(GPipe, OneStage) { EXPECT_EQ(Staircase(GPipe(1, 2)), "rank 0 | F0 F1 B0 B1\n"); }

TEST(GPipe, OneMicroBatch) {
  EXPECT_EQ(Staircase(GPipe(3, 1)),
            "rank 0 | F0 .. .. .. .. B0\n"
            "rank 1 | .. F0 .. .. B0 ..\n"
            "rank 2 | .. .. F0 B0 .. ..\n");
}

TEST(GPipe, TwoStagesFourMicroBatches) {
  EXPECT_EQ(Staircase(GPipe(2, 4)),
            "rank 0 | F0 F1 F2 F3 .. .. B0 B1 B2 B3\n"
            "rank 1 | .. F0 F1 F2 F3 B0 B1 B2 B3 ..\n");
}

TEST(GPipe, FourStagesThreeMicroBatches) {
  EXPECT_EQ(Staircase(GPipe(4, 3)),
            "rank 0 | F0 F1 F2 .. .. .. .. .. .. B0 B1 B2\n"
            "rank 1 | .. F0 F1 F2 .. .. .. .. B0 B1 B2 ..\n"
            "rank 2 | .. .. F0 F1 F2 .. .. B0 B1 B2 .. ..\n"
            "rank 3 | .. .. .. F0 F1 F2 B0 B1 B2 .. .. ..\n");
}

TEST(GPipe, LoweringDoesNotMoveTheStaircase) {
  EXPECT_EQ(Staircase(MakeSchedule("gpipe", 4, 3)), Staircase(GPipe(4, 3)));
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

TEST(Lowering, InsertsWhatARankRuns) {
  EXPECT_EQ(ToText(MakeSchedule("gpipe", 3, 2)),
            "rank 0: 0F0 0sendA0>1 0F1 0sendA1>1 0recvG0<1 0B0 0recvG1<1 0B1 0reduce 0step\n"
            "rank 1: 1recvA0<0 1F0 1sendA0>2 1recvA1<0 1F1 1sendA1>2 1recvG0<2 1B0 1sendG0>0 "
            "1recvG1<2 1B1 1sendG1>0 1reduce 1step\n"
            "rank 2: 2recvA0<1 2F0 2recvA1<1 2F1 2B0 2sendG0>1 2B1 2sendG1>1 2reduce 2step\n");
}

TEST(Lowering, OneStageHasNobodyToTalkTo) {
  EXPECT_EQ(ToText(MakeSchedule("gpipe", 1, 1)), "rank 0: 0F0 0B0 0reduce 0step\n");
}

TEST(Factory, ListsTheNames) {
  try {
    MakeSchedule("pipedream", 2, 4);
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(), "[schedule] unknown schedule \"pipedream\"; there are: gpipe");
  }
  EXPECT_THROW(MakeSchedule("gpipe", 0, 4), BadInput);
  EXPECT_THROW(MakeSchedule("gpipe", 2, 0), BadInput);
}

}  // namespace
}  // namespace torus::parallel
