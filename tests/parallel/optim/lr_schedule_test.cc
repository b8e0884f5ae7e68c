#include "parallel/optim/lr_schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "runtime/error.h"
#include "runtime/io/safetensors.h"

namespace torus::parallel {
namespace {

// The schedule of a golden tensor's name, SPEC/TOTAL/WARMUP/STEPS_PER_EPOCH.
LrSchedule ScheduleOf(const std::string& name) {
  std::istringstream in(name);
  std::string spec;
  std::getline(in, spec, '/');
  RunLength length;
  char slash;
  in >> length.total_steps >> slash >> length.warmup_steps >> slash >> length.steps_per_epoch;
  return MakeLrSchedule(spec, length);
}

// PyTorch multiplies its way from step to step, so its own rounding grows: a handful of roundings
// of a factor of at most 1 at each step.
TEST(LrSchedule, AgreesWithPyTorch) {
  const SafetensorsFile golden = ReadSafetensors("tests/golden/lr_schedules.safetensors");
  ASSERT_GE(golden.tensors.size(), 10u);
  for (const auto& [name, expected] : golden.tensors) {
    const LrSchedule schedule = ScheduleOf(name);
    const std::vector<double> rates = ToVector<double>(expected);
    const double tolerance =
        8 * std::numeric_limits<double>::epsilon() * static_cast<double>(rates.size());
    for (size_t step = 0; step < rates.size(); ++step)
      EXPECT_NEAR(schedule(static_cast<int64_t>(step)), rates[step], tolerance)
          << name << ", step " << step;
  }
}

TEST(LrSchedule, AnyStepInAnyOrder) {
  const LrSchedule schedule = MakeLrSchedule("cosine", {.total_steps = 100, .warmup_steps = 4});
  EXPECT_EQ(schedule(4), 1);
  EXPECT_EQ(schedule(0), 0.2);
  EXPECT_EQ(schedule(52), 0.5);
}

TEST(LrSchedule, StaysAtItsEnd) {
  const RunLength length{.total_steps = 50};
  EXPECT_EQ(MakeLrSchedule("cosine", length)(1000), 0);
  EXPECT_EQ(MakeLrSchedule("constant", length)(1000), 1);
  const LrSchedule one_cycle = MakeLrSchedule("one-cycle", length);
  EXPECT_EQ(one_cycle(1000), one_cycle(49));
  EXPECT_DOUBLE_EQ(one_cycle(49), 1 / 250000.0);
}

TEST(LrSchedule, EveryLengthIsFinite) {
  for (int64_t total = 1; total < 12; ++total)
    for (int64_t warmup = 0; warmup < total; ++warmup)
      for (const char* spec : {"constant", "cosine", "cosine:0.1", "linear", "polynomial:2:0.5",
                               "one-cycle", "step:1:0.5"}) {
        const LrSchedule schedule = MakeLrSchedule(spec, {total, warmup, 1});
        for (int64_t step = 0; step <= total; ++step) {
          EXPECT_GE(schedule(step), 0)
              << spec << ", " << step << " of " << total << ", warm-up " << warmup;
          EXPECT_LE(schedule(step), 1)
              << spec << ", " << step << " of " << total << ", warm-up " << warmup;
        }
      }
}

// nanoGPT's get_lr and transformers' get_polynomial_decay_schedule_with_warmup, by their formulas.
TEST(LrSchedule, EndsAtAFactor) {
  const RunLength run{.total_steps = 12, .warmup_steps = 2};
  const LrSchedule cosine = MakeLrSchedule("cosine:0.1", run);
  const LrSchedule linear = MakeLrSchedule("linear:0.2", run);
  const LrSchedule square = MakeLrSchedule("polynomial:2", run);
  for (const LrSchedule& schedule : {cosine, linear, square}) {
    EXPECT_DOUBLE_EQ(schedule(0), 1.0 / 3);
    EXPECT_DOUBLE_EQ(schedule(2), 1);
  }
  EXPECT_DOUBLE_EQ(cosine(7), 0.1 + 0.9 * 0.5);  // half way
  EXPECT_DOUBLE_EQ(linear(7), 0.6);
  EXPECT_DOUBLE_EQ(square(7), 0.25);
  EXPECT_DOUBLE_EQ(cosine(12), 0.1);
  EXPECT_DOUBLE_EQ(linear(100), 0.2);
  EXPECT_DOUBLE_EQ(square(12), 0);
}

void ExpectRefused(const std::string& spec, const RunLength& length, const std::string& message) {
  try {
    MakeLrSchedule(spec, length);
    FAIL() << "took " << spec;
  } catch (const BadInput& e) {
    EXPECT_EQ(e.what(), "[lr-schedule] " + message);
  }
}

TEST(LrSchedule, SaysWhatIsWrong) {
  const RunLength run{.total_steps = 10};
  ExpectRefused(
      "root", run,
      "known schedules are constant, cosine[:F], linear[:F], polynomial:P[:F], one-cycle, "
      "step:N:GAMMA; got 'root'");
  ExpectRefused("step:30", run,
                "'step:30' has 2 parts; the form is step:N:GAMMA, as in step:30:0.1");
  ExpectRefused("cosine:2", run, "'cosine:2' needs a last factor from 0 to 1, got 2");
  ExpectRefused("linear:0:1", run,
                "'linear:0:1' has a part too many; the form is linear or linear:F");
  ExpectRefused("polynomial", run,
                "'polynomial' lacks a part; the form is polynomial:P or polynomial:P:F, as in "
                "polynomial:2:0.1");
  ExpectRefused("polynomial:0", run,
                "'polynomial:0' needs a power above 0 and at most 1000, got 0");
  ExpectRefused(
      "step:3x:0.1", run,
      "'3x' in 'step:3x:0.1' is not a number; the form is step:N:GAMMA, as in step:30:0.1");
  ExpectRefused("step:0:0.1", run,
                "'step:0:0.1' needs from 1 to 1000000 epochs between its steps, got 0");
  ExpectRefused("step:4611686018427387904:0.5", {20, 0, 4},
                "'step:4611686018427387904:0.5' needs from 1 to 1000000 epochs between its steps, "
                "got 4611686018427387904");
  ExpectRefused("step:1000000:0.5", {20, 0, int64_t{1} << 44},
                "'step:1000000:0.5' has more steps than can be counted in 1000000 epochs of "
                "17592186044416");
  ExpectRefused("polynomial:inf", run,
                "'polynomial:inf' needs a power above 0 and at most 1000, got inf");
  ExpectRefused("step:3:1.5", run, "'step:3:1.5' needs a factor above 0 and at most 1, got 1.5");
  ExpectRefused("cosine", {10, 10, 1}, "--warmup must be shorter than the run of 10 steps, got 10");
  ExpectRefused("cosine", {0, 0, 1}, "a run needs at least 1 step, got 0");
  EXPECT_THROW(MakeLrSchedule("constant", run)(-1), BadInput);
}

}  // namespace
}  // namespace torus::parallel
