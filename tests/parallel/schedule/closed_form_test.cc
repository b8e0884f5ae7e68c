// Idle time and memory of the schedules, against the formulas of their papers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/simulator.h"
#include "parallel/schedule/verifier.h"

namespace torus::parallel {
namespace {

// Powers of two, so that sums are exact.
constexpr double kForward = 1, kBackward = 2;

struct Figures {
  double idle = 0;    // of each rank
  int in_flight = 0;  // chunks' micro-batches, of the rank that has most
};

Figures Of(const char* name, const PipelineSize& size) {
  const Schedule schedule = MakeSchedule(name, size);
  const double part = 1.0 / size.chunks;
  CostModel costs;
  costs.forward.assign(size.stages(), kForward * part);
  costs.backward.assign(size.stages(), kBackward * part);
  return {Simulate(schedule, costs).makespan - size.micro_batches * (kForward + kBackward),
          std::ranges::max(Verify(schedule).rank_in_flight)};
}

TEST(ClosedForm, GPipeAndOneForwardOneBackwardIdleAlike) {
  for (int k = 1; k <= 16; ++k) {
    for (int m = 1; m <= 64; ++m) {
      SCOPED_TRACE(fmt::format("{} ranks, {} micro-batches", k, m));
      const Figures gpipe = Of("gpipe", {k, m}), alternating = Of("1f1b", {k, m});
      EXPECT_EQ(gpipe.idle, (k - 1) * (kForward + kBackward));
      EXPECT_EQ(alternating.idle, gpipe.idle);
      EXPECT_EQ(gpipe.in_flight, m);
      EXPECT_EQ(alternating.in_flight, std::min(m, k));
    }
  }
}

// How far rounding may take the idle time of a schedule of that makespan. The longest chain of
// actions has at most chunks x makespan of them, since none is shorter than 1 / chunks. Each end
// rounds by at most u = 2^-53 of the makespan. The actions' own times, the difference from the busy
// time and the formula's quotient add at most u of the makespan each.
double Rounding(const PipelineSize& size, double makespan) {
  return (size.chunks * makespan + 3) * 0x1p-53 * makespan;
}

// With one, two and four chunks the parts are exact in binary.
TEST(ClosedForm, ChunksDivideTheBubble) {
  for (int v = 1; v <= 4; ++v) {
    for (int k = 1; k <= 16; ++k) {
      for (int m = k; m <= 64; m += k) {
        SCOPED_TRACE(fmt::format("{} ranks, {} micro-batches, {} chunks", k, m, v));
        const Figures figures = Of("interleaved", {k, m, v});
        const double idle = (k - 1) * (kForward + kBackward) / v;
        const double makespan = m * (kForward + kBackward) + idle;
        EXPECT_NEAR(figures.idle, idle, v == 3 ? Rounding({k, m, v}, makespan) : 0);
        EXPECT_LE(figures.in_flight, std::min(v * m, v * k + k - 1));
      }
    }
  }
}

// f = b_input = w of a rank is 1: (K - 1)(f + b_input - w) / v.
TEST(ClosedForm, InterleavedZeroBubbleIdlesAThirdOfInterleaved) {
  for (int v = 1; v <= 4; ++v) {
    for (int k = 1; k <= 16; ++k) {
      for (int m = k; m <= 3 * k; m += k) {
        SCOPED_TRACE(fmt::format("{} ranks, {} micro-batches, {} chunks", k, m, v));
        const Figures figures = Of("zb-interleaved", {k, m, v});
        const double idle = (k - 1.0) / v;
        const double makespan = m * (kForward + kBackward) + idle;
        EXPECT_NEAR(figures.idle, idle, v == 3 ? Rounding({k, m, v}, makespan) : 0);
        EXPECT_LE(figures.in_flight, v == 1 ? std::min(m, k) : std::min(v * m, v * k + k - 1));
      }
    }
  }
}

// A smaller last group makes no schedule longer than one with that group whole.
TEST(ClosedForm, AnUnevenLastGroupCostsAtMostAWholeOne) {
  for (int k = 2; k <= 6; ++k) {
    for (int m = 1; m <= 13; ++m) {
      SCOPED_TRACE(fmt::format("{} ranks, {} micro-batches", k, m));
      const int whole = (m + k - 1) / k * k;
      const Figures figures = Of("interleaved", {k, m, 2});
      EXPECT_LE(figures.idle,
                Of("interleaved", {k, whole, 2}).idle + (whole - m) * (kForward + kBackward));
      EXPECT_LE(figures.in_flight, std::min(2 * m, 2 * k + k - 1));
    }
  }
}

// f = b_input = w = 1: (K - 1)(f + b_input - w).
TEST(ClosedForm, ZeroBubbleH1IdlesAThirdOfOneForwardOneBackward) {
  for (int k = 1; k <= 16; ++k) {
    for (int m = 1; m <= 64; ++m) {
      SCOPED_TRACE(fmt::format("{} ranks, {} micro-batches", k, m));
      const Figures figures = Of("zb-h1", {k, m});
      if (m >= k) {
        EXPECT_EQ(figures.idle, k - 1);
      }
      EXPECT_LE(figures.in_flight, std::min(m, k));
    }
  }
}

// If each end has half of the work of a middle rank, the first rank is as busy as the others, and
// all idle as long as with GPipe.
TEST(ClosedForm, UShapedWithHalvesAtTheEndsIdlesLikeGPipe) {
  for (int k = 1; k <= 16; ++k) {
    for (int m = 1; m <= 64; ++m) {
      SCOPED_TRACE(fmt::format("{} ranks, {} micro-batches", k, m));
      const Schedule schedule = MakeSchedule("u-shaped", {k, m});
      CostModel costs;
      costs.forward.assign(k + 1, kForward);
      costs.backward.assign(k + 1, kBackward);
      costs.forward.front() = costs.forward.back() = kForward / 2;
      costs.backward.front() = costs.backward.back() = kBackward / 2;
      EXPECT_EQ(Simulate(schedule, costs).makespan, (m + k - 1) * (kForward + kBackward));
      EXPECT_EQ(Verify(schedule).rank_in_flight.front(), 2 * m);
    }
  }
}

}  // namespace
}  // namespace torus::parallel
