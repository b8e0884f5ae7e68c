#include "parallel/schedule/central_server.h"

#include <gtest/gtest.h>

#include "parallel/schedule/factory.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

TEST(CentralServer, AllGradientsGoInAndAllWeightsOutOfOneLink) {
  const Schedule schedule = MakeSchedule("gpipe", {2, 1});
  const Simulation simulation = Simulate(schedule);
  // Backwards end at 3 (stage 1) and 4 (stage 0). Of three replicas 2 bytes each at 1 byte a
  // second: stage 1's gradients are in at 9.5, stage 0's at 15.5; its weights are out 6.5 s later.
  EXPECT_DOUBLE_EQ(
      SecondsWithServer(schedule, simulation, 3, {2, 2}, {.latency = 0.5, .bandwidth = 1}),
      3 + 6 + 6 + 0.5 + 6 + 0.5);
}

TEST(CentralServer, WithoutBytesItTakesALatencyEachWay) {
  const Schedule schedule = MakeSchedule("zb-h1", {3, 4});
  const Simulation simulation = Simulate(schedule);
  EXPECT_DOUBLE_EQ(SecondsWithServer(schedule, simulation, 4, {0, 0, 0}, {.latency = 2}),
                   simulation.makespan + 4);
}

TEST(CentralServer, EachReplicaHasAWindowOfItsOwn) {
  const Schedule schedule = MakeSchedule("gpipe", {1, 1});
  const Simulation simulation = Simulate(schedule);
  // Two windows of 1 byte a round trip of 1 s: 2 bytes a second, 4 bytes each way.
  const LinkModel link{.latency = 0.5, .bandwidth = 100, .window = 1};
  EXPECT_DOUBLE_EQ(SecondsWithServer(schedule, simulation, 2, {2}, link), 2 + 2.5 + 2.5);
}

TEST(CentralServer, RefusesOtherNumbers) {
  const Schedule schedule = MakeSchedule("gpipe", {2, 1});
  const Simulation simulation = Simulate(schedule);
  EXPECT_THROW((void)SecondsWithServer(schedule, simulation, 0, {1, 1}, {}), BadInput);
  EXPECT_THROW((void)SecondsWithServer(schedule, simulation, 1, {1}, {}), BadInput);
}

}  // namespace
}  // namespace torus::parallel
