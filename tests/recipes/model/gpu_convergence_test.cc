// Small models of three kinds learn in 16 bits on a GPU as they do in f32 on the CPU, with dropout
// and masks, over 200 steps. Takes minutes on emulated GPUs: run it by name.
#include <gtest/gtest.h>

#include <numeric>

#include "runtime/stream.h"
#include "tests/recipes/model/gpu_training.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

constexpr int64_t kLong = 200, kLast = 20;

double MeanOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Rows that return every six steps, so that they can be learnt; those of Kinds() never do.
Kind Repeating(Kind kind) {
  if (kind.name == "MobileNetV2")
    kind.rows = [](int64_t step) { return Images(step % 6); };
  else
    kind.rows = [](int64_t step) { return Tokens(step % 6); };
  return kind;
}

std::vector<double> Losses(const Kind& kind, TrainerOptions options, const Setup& setup) {
  const std::vector<double> losses = Train(kind, options, setup).losses;
  EXPECT_EQ(losses.size(), static_cast<size_t>(kLong));
  return losses;
}

class GpuConvergence : public ::testing::TestWithParam<size_t> {};

// The mean loss of the last steps is off by at most 5 % of what f32 has learnt. (Roundings move a
// run to another one: two of f32 whose weights begin an ulp of bf16 apart differ as well.)
TEST_P(GpuConvergence, In16BitsIsThatOfF32) {
  if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  const Kind kind = Repeating(Kinds()[GetParam()]);
  const auto setup = [](Precision precision) {
    return testing::Setup{
        .precision = precision, .end = kLong, .learning_rate = [](int64_t) { return 10 * kRate; }};
  };
  const std::vector<double> full = Losses(kind, {}, setup({}));
  const double first = MeanOf(std::span(full).first(6)), last = MeanOf(std::span(full).last(kLast));
  ASSERT_LT(last, 0.7 * first) << kind.name << " learns nothing in f32";
  for (const DType low : {DType::kBF16, DType::kF16}) {
    TrainerOptions options{.device = DeviceKind::kCuda};
    if (low == DType::kF16) options.loss_scale.emplace();
    const std::vector<double> losses = Losses(kind, options, setup({low, MatmulMode::kNative}));
    const double reached = MeanOf(std::span(losses).last(kLast));
    RecordProperty(std::string(Name(low)), fmt::format("{:.4f}", reached));
    EXPECT_NEAR(reached, last, 0.05 * (first - last))
        << kind.name << " in " << Name(low) << ", from " << first;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, GpuConvergence, ::testing::Range(size_t{0}, size_t{3}),
                         [](const auto& one) { return Kinds()[one.param].name; });

}  // namespace
}  // namespace torus::recipes
