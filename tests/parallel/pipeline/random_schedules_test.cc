// Ten thousand different random schedules through the executor: none hangs, and all give one
// stage's bits.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "parallel/schedule/printer.h"
#include "parallel/schedule/verifier.h"
#include "tests/parallel/pipeline/pipeline_run.h"
#include "tests/parallel/pipeline/random_schedule.h"

namespace torus::parallel {
namespace {

constexpr size_t kSchedules = 10'000;
constexpr int kMostMicroBatches = 4;
constexpr int kSamples = 5;  // with four micro-batches the last is empty

// Cuts of the model into `stages`, other ones for each `number`.
Cuts RandomCuts(uint64_t number, int stages) {
  const RandomStream random({.seed = number, .layer = HashName("cuts")});
  Cuts all;
  for (int cut = 1; cut < tiny::kBlocks; ++cut) all.push_back(cut);
  for (int left = tiny::kBlocks - stages; left > 0; --left)
    all.erase(all.begin() + static_cast<int64_t>(random.Below(left, all.size())));
  return all;
}

// Whether the stages go down the ranks and up again, over several ranks.
bool IsInAV(const Schedule& schedule) {
  const std::vector<int> owners = StageOwners(schedule);
  bool v = schedule.num_ranks > 1 && schedule.num_stages == 2 * schedule.num_ranks;
  for (int s = 0; s < schedule.num_stages; ++s)
    v &= owners[s] == owners[schedule.num_stages - 1 - s];
  return v;
}

TEST(RandomSchedules, NoneHangsAndAllGiveOneStagesBits) {
  std::map<int, tiny::Trained> plain;
  for (int m = 1; m <= kMostMicroBatches; ++m) plain[m] = tiny::TrainPlain(2, kSamples, m);
  int several = 0, v_shaped = 0;
  std::set<std::string> distinct;
  for (uint64_t number = 0; distinct.size() < kSchedules; ++number) {
    const auto [schedule, several_stages] =
        testing::MakeRandomSchedule(number, tiny::kBlocks, kMostMicroBatches);
    if (!distinct.insert(ToText(schedule)).second) continue;
    several += several_stages;
    v_shaped += IsInAV(schedule);
    ASSERT_NO_THROW(Verify(schedule)) << ToText(schedule);
    const tiny::Trained trained =
        tiny::TrainPipeline({.schedule = schedule,
                             .cuts = RandomCuts(number, schedule.num_stages),
                             .steps = 2,
                             .samples = kSamples});
    ASSERT_EQ(trained, plain.at(schedule.num_micro_batches)) << "schedule " << number << "\n"
                                                             << ToText(schedule);
  }
  EXPECT_GT(several, 5000);
  EXPECT_GT(v_shaped, 500);
}

}  // namespace
}  // namespace torus::parallel
