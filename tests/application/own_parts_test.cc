// The application's codec and schedule by themselves.
#include "tests/application/own_parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "parallel/codec/make_codec.h"
#include "parallel/schedule/factory.h"
#include "parallel/schedule/simulator.h"

namespace application {
namespace {

using namespace torus::parallel;  // NOLINT

TEST(OwnCodec, KeepsTheUpperHalf) {
  const std::vector<float> values = {1, -2.5f, 3.0e-20f, 1.00390625f};
  std::vector<std::byte> bytes(8);
  AddHalfCodec();
  const auto codec = torus::parallel::MakeCodec("half");
  ASSERT_EQ(codec->Encode(values, bytes), 8u);
  std::vector<float> back(4);
  codec->Decode(bytes, back);
  EXPECT_EQ(back[0], 1);
  EXPECT_EQ(back[1], -2.5f);
  EXPECT_NEAR(back[2], values[2], values[2] / 128);
  EXPECT_EQ(back[3], 1);
}

TEST(OwnSchedule, IsVerifiedAndAsLongAsGPipe) {
  const CostModel costs{.forward = {1, 1, 1}, .backward = {2, 2, 2}};
  const Schedule own = MakeSchedule(Alternating, {3, 8});
  EXPECT_DOUBLE_EQ(Simulate(own, costs).makespan,
                   Simulate(MakeSchedule("gpipe", {3, 8}), costs).makespan);
}

TEST(OwnSchedule, IsRefusedWhereItIsWrong) {
  const auto backwards = [](const PipelineSize& size) {
    Schedule schedule = Alternating(size);
    for (auto& actions : schedule.ranks) std::reverse(actions.begin(), actions.end());
    return schedule;
  };
  EXPECT_ANY_THROW(MakeSchedule(backwards, {2, 4}));
}

}  // namespace
}  // namespace application
