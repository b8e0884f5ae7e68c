#include "parallel/pipeline/encoder_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/parallel_for.h"

namespace torus::parallel {
namespace {

TEST(EncoderThread, RunsJobsInTheirOrderWithATeamOfOne) {
  std::vector<int> ran;
  std::vector<std::future<void>> done;
  EncoderThread thread;
  for (int i = 0; i < 100; ++i)
    done.push_back(thread.Run([&ran, i] { ran.push_back(TeamSize() == 1 ? i : -1); }));
  for (std::future<void>& one : done) one.get();
  ASSERT_EQ(ran.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[i], i);
}

TEST(EncoderThread, GivesTheErrorOfAJobToWhoWaitsForIt) {
  EncoderThread thread;
  std::future<void> bad = thread.Run([] { throw std::runtime_error("bad"); });
  std::future<void> good = thread.Run([] {});
  EXPECT_THROW(bad.get(), std::runtime_error);
  EXPECT_NO_THROW(good.get());
}

TEST(EncoderThread, DropsWhatHasNotBegunAndWaitsForTheJobThatRuns) {
  std::promise<void> begun;
  std::atomic<bool> ended = false, second = false;
  EncoderThread thread;
  const std::future<void> done = thread.Run([&] {
    begun.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ended = true;
  });
  std::future<void> dropped = thread.Run([&] { second = true; });
  begun.get_future().wait();
  thread.Drop();
  EXPECT_TRUE(ended);
  EXPECT_THROW(dropped.get(), std::future_error);
  EXPECT_FALSE(second);
  EXPECT_NO_THROW(thread.Run([] {}).get());
}

TEST(EncoderThread, WaitsAtItsEndForTheJobThatRuns) {
  std::promise<void> begun;
  std::atomic<bool> ended = false;
  {
    EncoderThread thread;
    const std::future<void> done = thread.Run([&] {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ended = true;
    });
    begun.get_future().wait();
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace torus::parallel
