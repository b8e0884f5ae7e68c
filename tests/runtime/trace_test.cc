#include "runtime/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "runtime/error.h"

namespace torus::trace {
namespace {

class Trace : public testing::Test {
 protected:
  void SetUp() override { Enable(true); }
  void TearDown() override {
    Enable(false);
    Drain();
  }
};

TEST_F(Trace, OffRecordsNothing) {
  Enable(false);
  { Scope scope("F0", "forward"); }
  Record({"x", "y"});
  EXPECT_TRUE(Drain().empty());
}

TEST_F(Trace, ARunsOwnRecorderIsApart) {
  const auto run = std::make_shared<Recorder>();
  { Scope scope("of the process", ""); }
  {
    const WithRecorder with(run);
    EXPECT_FALSE(Enabled());
    Enable(true);
    SetRank(3, "rank 3");
    { Scope scope("of the run", ""); }
    std::thread([] { Scope scope("of no run", ""); }).join();
    const std::vector<Event> events = Drain();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].name, "of the run");
    EXPECT_EQ(events[0].rank, 3);
  }
  const std::vector<Event> events = Drain();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].name, "of the process");
  EXPECT_EQ(events[1].name, "of no run");
}

TEST_F(Trace, ScopeKeepsWhatItWasTold) {
  const int64_t before = Now();
  { Scope scope("F2", "forward", 3, 2); }
  const std::vector<Event> events = Drain();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].name, "F2");
  EXPECT_EQ(events[0].category, "forward");
  EXPECT_EQ(events[0].step, 3);
  EXPECT_EQ(events[0].micro_batch, 2);
  EXPECT_LE(before, events[0].begin_ns);
  EXPECT_LE(events[0].begin_ns, events[0].end_ns);
  EXPECT_TRUE(Drain().empty());
}

TEST_F(Trace, ScopeThatOutlivesTheTracerIsDropped) {
  {
    Scope scope("F0", "forward");
    Enable(false);
  }
  Enable(true);
  EXPECT_TRUE(Drain().empty());
}

// Threads record while another drains; each event comes out once, in its thread's order, on its
// thread's lane.
TEST_F(Trace, ManyThreadsWhileDraining) {
  const int threads = 4, each = 3000;
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([t] {
      SetRank(t, "rank " + std::to_string(t));
      for (int i = 0; i < each; ++i) Record({"e", "test", 0, Now(), Now(), i});
    });
  }
  std::vector<std::vector<int64_t>> steps(threads);
  const auto take = [&] {
    std::vector<Event> events = Drain();
    for (const Event& event : events) steps.at(event.rank).push_back(event.step);
  };
  for (int i = 0; i < 20; ++i) take();
  for (std::thread& thread : pool) thread.join();
  take();
  for (const auto& seen : steps) {
    ASSERT_EQ(seen.size(), static_cast<size_t>(each));
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  }
}

TEST_F(Trace, DrainSortsByBeginAcrossThreads) {
  std::thread([] { Record({"late", "test", 0, 20, 30}); }).join();
  Record({"early", "test", 0, 10, 40});
  const std::vector<Event> events = Drain();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].name, "early");
}

TEST_F(Trace, ChromeFileHasNamedLanesAndMicroseconds) {
  std::thread([] {
    SetRank(1, "stage 1 \"odd\" \xff");
    Record({"B0", "backward", 0, 5000, 9500, 4, 1});
  }).join();
  Record({"F0", "forward", 0, 1000, 3000});
  const std::string path = testing::TempDir() + "trace.json";
  WriteChromeTrace(Drain(), path);
  std::ifstream in(path);
  const nlohmann::json json = nlohmann::json::parse(in);
  std::set<int> named;
  std::vector<nlohmann::json> events;
  for (const auto& e : json.at("traceEvents")) {
    if (e.at("ph") == "M" && e.at("name") == "thread_name") named.insert(e.at("tid").get<int>());
    if (e.at("ph") == "X") events.push_back(e);
  }
  EXPECT_TRUE(named.count(0) && named.count(1));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].at("ts"), 0);
  EXPECT_EQ(events[0].at("dur"), 2);
  EXPECT_EQ(events[1].at("ts"), 4);
  EXPECT_EQ(events[1].at("dur"), 4.5);
  EXPECT_EQ(events[1].at("tid"), 1);
  EXPECT_EQ(events[1].at("args").at("micro_batch"), 1);
}

TEST_F(Trace, UnwritablePathIsNamed) {
  try {
    WriteChromeTrace({}, "/nonexistent/trace.json");
    FAIL();
  } catch (const BrokenEnvironment& e) {
    EXPECT_STREQ(e.what(), "[/nonexistent/trace.json] cannot create: No such file or directory");
  }
}

TEST_F(Trace, FullDiskIsNamed) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this system";
  EXPECT_THROW(WriteChromeTrace({}, "/dev/full"), BrokenEnvironment);
}

}  // namespace
}  // namespace torus::trace
