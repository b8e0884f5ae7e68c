// Schedules over V-shaped stages: their staircases, and their idle time and memory against the
// formulas of docs/simulator.md, with f = b_input = w = 1 of a stage.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/printer.h"
#include "parallel/schedule/simulator.h"
#include "parallel/schedule/verifier.h"
#include "runtime/error.h"
#include "tests/parallel/schedule/shortest_v.h"

namespace torus::parallel {
namespace {

constexpr int kWork = 6;  // of a rank on a micro-batch: two stages

Schedule Make(const char* name, int ranks, int micro_batches) {
  return MakeSchedule(name, {ranks, micro_batches, 2});
}

TEST(ZeroBubbleV, TwoRanksThreeMicroBatches) {
  EXPECT_EQ(Staircase(Make("zb-v", 2, 3)),
            "rank 0 | 0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 0I0 0W0 3F2 3I2 3W2 0I1 0W1 0I2 0W2 ..\n"
            "rank 1 | ..  1F0 2F0 1F1 2F1 2I0 2W0 1F2 1I0 1W0 2F2 2I1 2W1 1I1 2I2 1I2 1W1 2W2 "
            "1W2\n");
}

TEST(ZeroBubbleV, FewerMicroBatchesThanFillIt) {
  EXPECT_EQ(Staircase(Make("zb-v", 2, 1)),
            "rank 0 | 0F0 ..  ..  3F0 3I0 3W0 ..  ..  0I0 0W0\n"
            "rank 1 | ..  1F0 2F0 ..  ..  2I0 2W0 1I0 1W0 ..\n");
}

TEST(VHalf, TwoRanksFourMicroBatches) {
  EXPECT_EQ(Staircase(Make("v-half", 2, 4)),
            "rank 0 | 0F0 0F1 0F2 3F0 3I0 3W0 3F1 0I0 3I1 0W0 0F3 3W1 3F2 0I1 3I2 0W1 3W2 3F3 3I3 "
            "0I2 3W3 0I3 0W2 0W3 ..\n"
            "rank 1 | ..  1F0 2F0 1F1 2F1 2I0 1I0 2W0 1W0 1F2 2F2 2I1 1I1 2W1 1W1 1F3 2F3 2I2 1I2 "
            "2I3 1I3 2W2 1W2 2W3 1W3\n");
}

TEST(VHalf, ThreeRanksThreeMicroBatches) {
  EXPECT_EQ(Staircase(Make("v-half", 3, 3)),
            "rank 0 | 0F0 0F1 0F2 ..  ..  5F0 5I0 5W0 ..  ..  5F1 5I1 0I0 5W1 0W0 5F2 5I2 0I1 5W2 "
            "0W1 ..  0I2 0W2\n"
            "rank 1 | ..  1F0 1F1 1F2 4F0 ..  ..  4I0 4W0 4F1 1I0 1W0 4I1 4W1 4F2 ..  1I1 4I2 1W1 "
            "4W2 1I2 1W2 ..\n"
            "rank 2 | ..  ..  2F0 3F0 2F1 3F1 ..  ..  3I0 2I0 3W0 2W0 2F2 3F2 3I1 2I1 3W1 2W1 3I2 "
            "2I2 3W2 2W2 ..\n");
}

TEST(VMin, TwoRanksThreeMicroBatches) {
  EXPECT_EQ(Staircase(Make("v-min", 2, 3)),
            "rank 0 | 0F0 0F1 ..  3F0 3I0 3W0 3F1 0I0 3I1 0W0 0F2 0I1 3W1 3F2 3I2 0W1 3W2 0I2 0W2\n"
            "rank 1 | ..  1F0 2F0 1F1 2F1 2I0 1I0 2W0 1W0 2I1 1I1 1F2 2F2 2W1 1W1 2I2 1I2 2W2 "
            "1W2\n");
}

TEST(VMin, ThreeRanksThreeMicroBatches) {
  EXPECT_EQ(Staircase(Make("v-min", 3, 3)),
            "rank 0 | 0F0 0F1 ..  ..  ..  5F0 5I0 0F2 5W0 5F1 5I1 0I0 5W1 0W0 ..  5F2 5I2 0I1 5W2 "
            "0W1 ..  0I2 0W2\n"
            "rank 1 | ..  1F0 1F1 ..  4F0 ..  4F1 4I0 4W0 1F2 1I0 4I1 1W0 4W1 4F2 ..  1I1 4I2 1W1 "
            "4W2 1I2 1W2 ..\n"
            "rank 2 | ..  ..  2F0 3F0 2F1 3F1 ..  ..  3I0 2I0 3W0 2W0 2F2 3F2 3I1 2I1 3W1 2W1 3I2 "
            "2I2 3W2 2W2 ..\n");
}

TEST(DualPipeV, TwoRanksFourMicroBatches) {
  EXPECT_EQ(Staircase(Make("dualpipe-v", 2, 4)),
            "rank 0 | 0F0 0F1 0F2 3F0 3I0 3W0 3F1 0F3 3B1 --  3F2 0B0 --  3B2 --  3F3 ..  0B1 --  "
            "3B3 --  0I2 0W2 0I3 0W3\n"
            "rank 1 | ..  1F0 2F0 1F1 2F1 1F2 2B0 --  2F2 1B0 --  1F3 2B1 --  2F3 1B1 --  2B2 --  "
            "1B2 --  2I3 1I3 2W3 1W3\n");
}

TEST(VSchedules, OneRankHasBothStages) {
  EXPECT_EQ(Staircase(Make("zb-v", 1, 1)), "rank 0 | 0F0 1F0 1I0 1W0 0I0 0W0\n");
  EXPECT_EQ(Staircase(Make("v-half", 1, 1)), "rank 0 | 0F0 1F0 1I0 0I0 1W0 0W0\n");
  EXPECT_EQ(Staircase(Make("v-min", 1, 1)), "rank 0 | 0F0 1F0 1I0 0I0 1W0 0W0\n");
  EXPECT_EQ(Staircase(Make("dualpipe-v", 1, 1)), "rank 0 | 0F0 1F0 1B0 0B0\n");
}

// Nothing is sent where the V turns.
TEST(VSchedules, TheLastRankTurns) {
  EXPECT_EQ(ToText(Make("v-min", 2, 1)),
            "rank 0: 0F0 0sendA0>1 3recvA0<1 3F0 3I0 3sendG0>1 3W0 3reduce 0recvG0<1 0I0 0W0 "
            "0reduce 0step 3step\n"
            "rank 1: 1recvA0<0 1F0 2F0 2sendA0>0 2recvG0<0 2I0 1I0 1sendG0>0 2W0 2reduce 1W0 "
            "1reduce 1step 2step\n");
}

TEST(VSchedules, RunTwoStagesARank) {
  for (const char* name : {"zb-v", "v-half", "v-min", "dualpipe-v"}) {
    EXPECT_EQ(StagesARank(name, 1), 2);
    EXPECT_EQ(StagesARank(name, 3), 2);
    EXPECT_EQ(SizeOf(name, 6, 4, 1).ranks, 3);
    EXPECT_EQ(SizeOf(name, 6, 4, 1).stages(), 6);
    EXPECT_EQ(StageOwners(MakeSchedule(name, SizeOf(name, 6, 4, 1))),
              (std::vector<int>{0, 1, 2, 2, 1, 0}));
    EXPECT_THROW(SizeOf(name, 5, 4, 1), BadInput);
    try {
      MakeSchedule(name, {2, 4, 3});
      FAIL() << name;
    } catch (const BadInput& error) {
      EXPECT_EQ(error.what(), fmt::format("[{}] runs two stages a rank, got 3 chunks", name));
    }
  }
}

struct Figures {
  double idle = 0;         // of each rank until the last one ends
  double idle_within = 0;  // most of a rank, from its first action to its last
  int in_flight = 0;       // stages' micro-batches, of the rank that has most
};

Simulation SimulateUnits(const Schedule& schedule) {
  CostModel costs;
  costs.forward.assign(schedule.num_stages, 1);
  costs.backward.assign(schedule.num_stages, 2);
  return Simulate(schedule, costs);
}

Figures Of(const char* name, int ranks, int micro_batches) {
  const Schedule schedule = Make(name, ranks, micro_batches);
  const Simulation simulation = SimulateUnits(schedule);
  const double work = kWork * micro_batches;
  Figures figures{simulation.makespan - work, 0, std::ranges::max(Verify(schedule).rank_in_flight)};
  for (const std::vector<TimedAction>& rank : simulation.ranks)
    figures.idle_within =
        std::max(figures.idle_within, rank.back().end - rank.front().begin - work);
  return figures;
}

// Calls visit(K, M) for K up to 16 and M from 1 to beyond where it fills the pipeline: every M for
// up to four ranks, every second, third or fourth for more.
template <class Visit>
void ForEachSize(const Visit& visit) {
  for (int k = 1; k <= 16; ++k)
    for (int m = 1; m <= 2 * k + 5; m += 1 + k / 5) {
      SCOPED_TRACE(fmt::format("{} ranks, {} micro-batches", k, m));
      visit(k, m);
    }
}

TEST(ClosedForm, ZeroBubbleVIdlesOnlyBeforeItBegins) {
  ForEachSize([](int k, int m) {
    const Figures figures = Of("zb-v", k, m);
    EXPECT_EQ(figures.in_flight, std::min(2 * m, 2 * k));
    if (m < 2 * k - 1) return;
    EXPECT_EQ(figures.idle_within, 0);
    EXPECT_EQ(figures.idle, k - 1);
  });
}

double IdleOfVHalf(int k) {
  if (k <= 2) return k - 1;
  if (k % 2 == 1) return 3 * k - 4;
  return k < 14 ? 3 * k - 7 : 3 * k - 5;
}

TEST(ClosedForm, VHalfTakesHalfOfTheMemoryAndOfTheBubble) {
  ForEachSize([](int k, int m) {
    const Figures figures = Of("v-half", k, m);
    EXPECT_EQ(figures.in_flight, std::min(2 * m, 2 * ((k + 2) / 2)));
    if (m < k) return;
    EXPECT_EQ(figures.idle, IdleOfVHalf(k));
    EXPECT_LE(figures.idle, 3 * (k - 1));
  });
}

double IdleOfVMin(int k) { return k == 1 ? 0 : 4 * k - (k % 3 == 1 ? 5 : 7); }

TEST(ClosedForm, VMinTakesAThirdOfTheMemoryAndTwoThirdsOfTheBubble) {
  ForEachSize([](int k, int m) {
    const Figures figures = Of("v-min", k, m);
    EXPECT_EQ(figures.in_flight, std::min(2 * m, 2 * ((k + 4) / 3)));
    if (m < k) return;
    EXPECT_EQ(figures.idle, IdleOfVMin(k));
    EXPECT_LE(figures.idle, 4 * (k - 1));
  });
}

TEST(ClosedForm, DualPipeVIdlesLikeZeroBubbleV) {
  ForEachSize([](int k, int m) {
    const Figures figures = Of("dualpipe-v", k, m);
    EXPECT_EQ(figures.in_flight, std::min(2 * m, 2 * k + 1));
    if (m >= 2 * k) {
      EXPECT_EQ(figures.idle, k - 1);
    }
  });
}

double IdleWith(const char* name, int micro_batches, const CostModel& costs) {
  const Schedule schedule = Make(name, 4, micro_batches);
  return Simulate(schedule, costs).makespan -
         2 * micro_batches * (costs.forward[0] + costs.backward[0]);
}

// f = 1, b_input = 1.5, w = 1.
TEST(VSchedules, OnlyVMinIdlesForEveryMicroBatchWithUnequalParts) {
  CostModel costs;
  costs.forward.assign(8, 1);
  costs.backward.assign(8, 2.5);
  costs.backward_input_share = 0.6;
  for (const char* name : {"zb-v", "v-half", "dualpipe-v"})
    EXPECT_NEAR(IdleWith(name, 32, costs), IdleWith(name, 16, costs), 1e-9) << name;
  EXPECT_GE(IdleWith("v-min", 32, costs), IdleWith("v-min", 16, costs) + 16);
}

// Runs DualPipeV as its authors do: a forward and the whole backward after it, of the rank's other
// stage, are one action, whose results both come at its end. Only the last rank's first backward is
// apart from its forward.
class Overlapping {
 public:
  explicit Overlapping(const Schedule& schedule)
      : schedule_(schedule), free_(schedule.num_ranks, 0) {
    for (const std::vector<Action>& actions : schedule.ranks) {
      lists_.emplace_back();
      std::ranges::copy_if(actions, std::back_inserter(lists_.back()),
                           [](const Action& action) { return IsCompute(action.kind); });
    }
  }

  // When the last rank ends.
  double Run() {
    std::vector<size_t> next(lists_.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < schedule_.num_ranks; ++rank)
        for (size_t count; (count = Advance(rank, next[rank])) > 0; moved = true)
          next[rank] += count;
    }
    for (size_t rank = 0; rank < lists_.size(); ++rank) EXPECT_EQ(next[rank], lists_[rank].size());
    return std::ranges::max(free_);
  }

 private:
  size_t CountAt(int rank, size_t at) const {
    const std::vector<Action>& list = lists_[rank];
    if (at + 1 >= list.size() || !IsForward(list[at].kind) ||
        list[at + 1].kind != ActionKind::kBackward || list[at].stage == list[at + 1].stage)
      return 1;
    const bool first = rank + 1 == schedule_.num_ranks && list[at + 1].micro_batch == 0 &&
                       list[at + 1].stage == schedule_.num_ranks;
    return first ? 1 : 2;
  }

  std::optional<double> Find(bool forward, int stage, int micro_batch) const {
    if (stage < 0 || stage >= schedule_.num_stages) return 0;
    const auto at = ends_.find({forward, stage, micro_batch});
    return at == ends_.end() ? std::nullopt : std::optional(at->second);
  }

  std::optional<double> Ready(const Action& action) const {
    const int stage = action.stage, m = action.micro_batch;
    if (IsForward(action.kind)) return Find(true, stage - 1, m);
    if (action.kind == ActionKind::kBackwardWeight) return Find(false, stage, m);
    return Find(true, stage, m) ? Find(false, stage + 1, m) : std::nullopt;
  }

  // How many actions of the list the rank could run from `at` on: none, one or two as one.
  size_t Advance(int rank, size_t at) {
    if (at == lists_[rank].size()) return 0;
    const size_t count = CountAt(rank, at);
    double end = free_[rank], seconds = 0;
    for (size_t i = at; i < at + count; ++i) {
      const Action& action = lists_[rank][i];
      const std::optional<double> ready = Ready(action);
      if (!ready) return 0;
      end = std::max(end, *ready);
      seconds += action.kind == ActionKind::kBackward ? 2 : 1;
    }
    end += seconds;
    for (size_t i = at; i < at + count; ++i) {
      const Action& action = lists_[rank][i];
      if (action.kind != ActionKind::kBackwardWeight)
        ends_[{IsForward(action.kind), action.stage, action.micro_batch}] = end;
    }
    free_[rank] = end;
    return count;
  }

  const Schedule& schedule_;
  std::vector<std::vector<Action>> lists_;
  std::vector<double> free_;
  std::map<std::tuple<bool, int, int>, double> ends_;
};

// (PP / 2 - 1)(F&B + B - 3 W) with F&B = F + B.
TEST(ClosedForm, DualPipeVWithOverlapHasTheBubbleOfItsAuthors) {
  for (int k = 1; k <= 8; ++k)
    for (int m = 2 * k; m <= 2 * k + 5; ++m)
      EXPECT_EQ(Overlapping(Make("dualpipe-v", k, m)).Run(), kWork * m + (k - 1) * (3 + 2 - 3))
          << k << " ranks, " << m << " micro-batches";
}

// No order of the same work takes less time with the same memory.
void ExpectShortest(const char* name, int ranks, int micro_batches) {
  const Schedule schedule = Make(name, ranks, micro_batches);
  const int slots = static_cast<int>(SimulateUnits(schedule).makespan);
  EXPECT_EQ(testing::ShortestV(ranks, micro_batches,
                               std::ranges::max(Verify(schedule).rank_in_flight), slots),
            slots)
      << name << ", " << ranks << " ranks, " << micro_batches << " micro-batches";
}

TEST(VSchedules, AreTheShortestWithTheirMemory) {
  for (int k = 1; k <= 3; ++k) {
    for (int m = 2 * k - 1; m <= 5; ++m) ExpectShortest("zb-v", k, m);
    for (int m = k; m <= 5; ++m) ExpectShortest("v-half", k, m);
    for (int m = k; m <= 5; ++m) ExpectShortest("v-min", k, m);
  }
  ExpectShortest("v-half", 4, 4);
  ExpectShortest("v-min", 4, 4);
}

// The search finds what is shorter where a schedule is not the shortest.
TEST(VSchedules, TooFewMicroBatchesLeaveRoom) {
  EXPECT_EQ(SimulateUnits(Make("zb-v", 3, 3)).makespan, 18 + 4);
  EXPECT_EQ(testing::ShortestV(3, 3, 6, 22), 18 + 2);
  EXPECT_EQ(testing::ShortestV(3, 3, 6, 19), 0);
}

}  // namespace
}  // namespace torus::parallel
