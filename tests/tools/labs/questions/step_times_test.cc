#include "tools/labs/questions/step_times.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace torus::labs {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

trace::Event Span(const char* category, int rank, int64_t step, int64_t begin, int64_t end) {
  return {.name = "x",
          .category = category,
          .rank = rank,
          .begin_ns = begin * kSecond,
          .end_ns = end * kSecond,
          .step = step};
}

// Rank 0 is early and waits in its all-reduce; rank 1 comes last.
std::vector<trace::Event> Step(int64_t step) {
  return {Span("data", 0, step, 0, 9),       Span("forward", 0, step, 0, 2),
          Span("backward", 0, step, 2, 4),   Span("reduce", 0, step, 4, 10),
          Span("idle", 0, step, 10, 11),     Span("optimizer", 0, step, 11, 12),
          Span("forward", 1, step, 0, 4),    Span("backward", 1, step, 4, 8),
          Span("reduce", 1, step, 8, 10),    Span("idle", 1, step, 10, 11),
          Span("optimizer", 1, step, 11, 12)};
}

TEST(StepTimes, AreMeansOverTheRanksAndTheLeastReduce) {
  const StepTimes times = StepTimesOf(Step(3), 2);
  EXPECT_DOUBLE_EQ(times.compute, (5 + 9) / 2.0);
  EXPECT_DOUBLE_EQ(times.communicate, (7 + 3) / 2.0);
  EXPECT_DOUBLE_EQ(times.reduce, 2);
  EXPECT_EQ(times.steps, 1);
}

TEST(StepTimes, LeaveOutStepsOfWhichARankIsMissing) {
  std::vector<trace::Event> events = Step(3);
  events.push_back(Span("backward", 0, 4, 20, 21));
  EXPECT_EQ(StepTimesOf(events, 2).steps, 1);
  EXPECT_THROW(StepTimesOf({Span("backward", 0, 4, 20, 21)}, 2), BadInput);
}

}  // namespace
}  // namespace torus::labs
