#include "recipes/run/agree_on_options.h"

#include <gtest/gtest.h>

#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/run_ranks.h"

namespace torus::recipes {
namespace {

using parallel::Transport;

// Host 0 has ranks 0 and 1, host 1 has rank 2.
class OnHost : public parallel::DecoratedTransport {
 public:
  using DecoratedTransport::DecoratedTransport;
  std::vector<int> SameHost() const override {
    return rank() < 2 ? std::vector{0, 1} : std::vector{2};
  }
};

// What a process with one rank sees of a run.
class OneRank : public parallel::World {
 public:
  explicit OneRank(Transport& transport) : transport_(transport) {}
  int size() const override { return transport_.size(); }
  std::vector<int> local() const override { return {transport_.rank()}; }
  void Run(const std::function<void(Transport&)>& fn) override { fn(transport_); }

 private:
  OnHost transport_;
};

// Of three processes; `options` and `cores` by rank.
std::vector<AgreedOptions> Agreed(const std::vector<RunOptions>& options,
                                  const std::vector<UsableCores>& cores) {
  std::vector<AgreedOptions> agreed(options.size());
  parallel::RunRanks(static_cast<int>(options.size()), [&](Transport& transport) {
    const int rank = transport.rank();
    OneRank world(transport);
    agreed[rank] = AgreeOnOptions(&world, options[rank], false, cores[rank]);
  });
  return agreed;
}

RunOptions With(int64_t threads) {
  RunOptions options;
  options.settings.threads = threads;
  return options;
}

TEST(AgreeOnOptions, HostsOfDifferentSizeTakeWhatTheSmallestHas) {
  const std::vector<AgreedOptions> agreed =
      Agreed({With(0), With(0), With(0)}, {{8, 0}, {8, 0}, {4, 0}});
  for (const AgreedOptions& each : agreed) EXPECT_EQ(each.options.settings.threads, 4);
}

// The two ranks of host 0 have cores of their own, 8 together; host 1 has 10.
TEST(AgreeOnOptions, CoresThatRanksAreBoundToCountTogether) {
  const std::vector<AgreedOptions> agreed =
      Agreed({With(0), With(0), With(0)}, {{4, 0}, {4, 4}, {10, 0}});
  for (const AgreedOptions& each : agreed) EXPECT_EQ(each.options.settings.threads, 8);
  EXPECT_EQ(agreed[0].process_threads, 4);
}

// The number of ranks, 3 here, says nothing of the cores.
TEST(AgreeOnOptions, RanksMayBeMoreThanTheSmallestHostHasCores) {
  for (const AgreedOptions& each : Agreed({With(0), With(0), With(0)}, {{2, 0}, {2, 0}, {1, 0}}))
    EXPECT_EQ(each.options.settings.threads, 1);
}

// Those of a host are for the ranks of the host, not of the whole run.
TEST(AgreeOnOptions, AProcessHasItsShareOfItsHost) {
  const std::vector<AgreedOptions> agreed =
      Agreed({With(6), With(6), With(6)}, {{8, 0}, {8, 0}, {4, 0}});
  for (const AgreedOptions& each : agreed) EXPECT_EQ(each.options.settings.threads, 6);
  EXPECT_EQ(agreed[0].process_threads, 3);
  EXPECT_EQ(agreed[1].process_threads, 3);
  EXPECT_EQ(agreed[2].process_threads, 6);
}

TEST(AgreeOnOptions, WhatWasGivenIsTheSame) {
  try {
    Agreed({With(0), With(0), With(4)}, {{8, 0}, {8, 0}, {4, 0}});
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_STREQ(error.what(), "[trainer] rank 2 has --threads 4, rank 0 has 0");
  }
}

TEST(AgreeOnOptions, AloneAProcessTakesItsCores) {
  EXPECT_EQ(AgreeOnOptions(nullptr, With(0), false, {5, 0}).process_threads, 5);
  EXPECT_EQ(AgreeOnOptions(nullptr, With(3), false, {5, 0}).options.settings.threads, 3);
}

}  // namespace
}  // namespace torus::recipes
