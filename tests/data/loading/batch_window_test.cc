#include "data/loading/batch_window.h"

#include <gtest/gtest.h>

#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

BatchWindow WindowOf(const LoaderOptions& options) {
  return BatchWindow(Sampler({.size = 20, .batch_size = 8, .shuffle = false}), Checked(options));
}

TEST(BatchWindow, GivesSlotsInTheOrderInWhichTheyAreNeeded) {
  BatchWindow window = WindowOf({.replicas = 3, .micro_batches = 2, .local_replicas = {0, 2}});
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) {
    const BatchWindow::Slot& slot = *window.Claim();
    names.push_back(fmt::format("{}", MicroBatchName{slot.step, slot.replica, slot.micro_batch}));
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "step 0, replica 0, micro-batch 0", "step 0, replica 2, micro-batch 0",
                       "step 0, replica 0, micro-batch 1", "step 0, replica 2, micro-batch 1",
                       "step 1, replica 0, micro-batch 0"}));
}

TEST(BatchWindow, SaysWhatToMake) {
  BatchWindow window = WindowOf({.micro_batches = 3});  // 8 samples: 3, 3, 2
  window.Claim();
  EXPECT_EQ(window.Claim()->part.indices, (std::vector<int64_t>{3, 4, 5}));
}

TEST(BatchWindow, MovesOnWhenTheOldestMiniBatchIsFetched) {
  BatchWindow window = WindowOf({.micro_batches = 2, .readers = 2, .prefetch = 2});
  BatchWindow::Slot* slots[4];
  for (auto*& slot : slots) slot = window.Claim();
  EXPECT_EQ(window.Claim(), nullptr);  // full
  EXPECT_EQ(window.Find(2, 0, 0), nullptr);
  for (const int i : {2, 3, 2, 3, 0, 1, 0}) EXPECT_FALSE(window.Fetched(slots[i])) << i;
  EXPECT_EQ(window.Claim(), nullptr);  // the second is forgotten, the first is not
  EXPECT_TRUE(window.Fetched(slots[1]));
  EXPECT_EQ(window.Claim()->step, 2);
  ExpectBadInput([&] { window.Find(1, 0, 0); }, "[loader]", "2 and up, got step 1");
}

TEST(BatchWindow, EndsAfterItsSteps) {
  BatchWindow window = WindowOf({.prefetch = 9, .steps = 4});
  for (int step = 0; step < 4; ++step) EXPECT_EQ(window.Claim()->step, step);
  EXPECT_EQ(window.Claim(), nullptr);
  EXPECT_EQ(window.Find(3, 0, 0)->part.epoch, 1);  // three mini-batches an epoch
  ExpectBadInput([&] { window.Find(4, 0, 0); }, "[loader]", "0 to 3, got step 4");
}

TEST(BatchWindow, RefusesAThirdReaderOfTwo) {
  BatchWindow window = WindowOf({.micro_batches = 2, .readers = 2});
  BatchWindow::Slot* const slot = window.Claim();
  window.Fetched(slot);
  EXPECT_EQ(window.Find(0, 0, 0), slot);
  window.Fetched(slot);
  ExpectBadInput([&] { window.Find(0, 0, 0); }, "[loader]", "already fetched by all 2 readers");
}

}  // namespace
}  // namespace torus::data
