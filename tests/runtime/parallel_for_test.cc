#include "runtime/parallel_for.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "runtime/team_size_guard.h"

namespace torus {
namespace {

// ThreadSanitizer runs have one thread a team (.bazelrc), whatever is asked for.
#ifdef __SANITIZE_THREAD__
constexpr bool kTeams = false;
#else
constexpr bool kTeams = true;
#endif

using Ranges = std::vector<std::pair<int64_t, int64_t>>;

// The ranges that a call makes, sorted.
Ranges RangesOf(int64_t count, int64_t grain) {
  Ranges ranges;
  std::mutex mutex;
  ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    ranges.emplace_back(begin, end);
  });
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (int threads : {1, 2, 3, 7}) {
    SetTeamSize(threads);
    for (int64_t count : {0, 1, 2, 6, 7, 8, 1000, 1001}) {
      for (int64_t grain : {0, 1, 3, 5000}) {
        int64_t next = 0;
        for (const auto& [begin, end] : RangesOf(count, grain)) {
          ASSERT_EQ(begin, next);
          ASSERT_LT(begin, end);
          next = end;
        }
        ASSERT_EQ(next, count);
      }
    }
  }
}

TEST(ParallelFor, RangesAreNotSmallerThanTheGrain) {
  SetTeamSize(8);
  for (int64_t count : {1, 99, 100, 199, 200, 555}) {
    const Ranges ranges = RangesOf(count, 100);
    for (const auto& [begin, end] : ranges) EXPECT_GE(end - begin, std::min<int64_t>(count, 100));
  }
}

TEST(ParallelFor, SameSettingsGiveTheSameRanges) {
  SetTeamSize(3);
  const Ranges first = RangesOf(1000, 1);
  EXPECT_EQ(first.size(), kTeams ? 3u : 1u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(RangesOf(1000, 1), first);
}

// Ranks are threads: each has its own team size and its own team at once.
TEST(ParallelFor, TeamSizeBelongsToTheThread) {
  SetTeamSize(2);
  std::vector<std::thread> ranks;
  std::atomic<int64_t> sum{0};
  for (int size : {1, 2, 3, 4}) {
    ranks.emplace_back([size, &sum] {
      SetTeamSize(size);
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(RangesOf(100, 1).size(), kTeams ? static_cast<size_t>(size) : 1u);
        ParallelFor(100, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
      }
      EXPECT_EQ(TeamSize(), kTeams ? size : 1);
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(TeamSize(), kTeams ? 2 : 1);
  EXPECT_EQ(sum, 4 * 50 * 100);
}

TEST(ParallelFor, AGuardGivesTheTeamBack) {
  SetTeamSize(3);
  EXPECT_THROW(
      {
        const TeamSizeGuard two(2);
        EXPECT_EQ(TeamSize(), kTeams ? 2 : 1);
        throw std::bad_alloc();
      },
      std::bad_alloc);
  EXPECT_EQ(TeamSize(), kTeams ? 3 : 1);
  EXPECT_THROW(TeamSizeGuard(0), BadInput);
  EXPECT_EQ(TeamSize(), kTeams ? 3 : 1);
}

TEST(ParallelFor, ReleasedTeamsComeBackAsTheyWere) {
  SetTeamSize(3);
  const Ranges before = RangesOf(1000, 1);
  for (int i = 0; i < 20; ++i) {
    ReleaseTeam();
    EXPECT_EQ(TeamSize(), kTeams ? 3 : 1);
    EXPECT_EQ(RangesOf(1000, 1), before);
  }
}

TEST(ParallelFor, RefusesAnEmptyTeam) { EXPECT_THROW(SetTeamSize(0), BadInput); }

TEST(ParallelFor, RethrowsWhatABodyThrows) {
  for (int threads : {1, 2, 4}) {
    SetTeamSize(threads);
    for (int64_t thrower : {0, 57, 99}) {
      std::atomic<int64_t> ended{0};
      const auto body = [&](int64_t begin, int64_t end) {
        if (begin <= thrower && thrower < end)
          Throw<BrokenEnvironment>("kernel", "no memory at {}", thrower);
        ended += end - begin;
      };
      try {
        ParallelFor(100, 1, body);
        FAIL() << "nothing thrown";
      } catch (const BrokenEnvironment& e) {
        EXPECT_EQ(e.what(), fmt::format("[kernel] no memory at {}", thrower));
      }
      EXPECT_EQ(ended, threads == 1 || !kTeams ? 0 : 100 - 100 / threads);
      // The team is whole again.
      EXPECT_EQ(std::ssize(RangesOf(100, 1)), kTeams ? threads : 1);
    }
  }
}

TEST(ParallelFor, OneExceptionOfManyComesOut) {
  SetTeamSize(4);
  for (int i = 0; i < 100; ++i)
    EXPECT_THROW(ParallelFor(100, 1, [](int64_t, int64_t) { throw std::bad_alloc(); }),
                 std::bad_alloc);
}

}  // namespace
}  // namespace torus
