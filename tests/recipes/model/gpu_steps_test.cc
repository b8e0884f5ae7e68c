// Training steps on GPUs: small models of three kinds come to the CPU's losses and weights up to
// rounding, and to the same bits wherever they are cut. Skips where there is no GPU: run it with
// --config=emulated_gpu.
#include <gtest/gtest.h>

#include "parallel/codec/make_codec.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"
#include "tests/recipes/model/gpu_training.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

class GpuSteps : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

TEST_F(GpuSteps, AreTheCpusUpToRounding) {
  for (const Kind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    TrainerOptions options{.micro_batches = 2, .clip_norm = 0.5, .ema_decay = 0.5};
    const Outcome cpu = Train(kind, options), noisy = Train(kind, options, {.noise = kRounding});
    options.device = DeviceKind::kCuda;
    const Outcome gpu = Train(kind, options);
    ExpectSameUpToRounding(gpu, cpu, noisy);
    EXPECT_GT(Distance(gpu.state, cpu.state), 0);  // else it was the CPU that computed
  }
}

// Two ranks take the two GPUs of --config=emulated_gpu; where there is one they share it.
TEST_F(GpuSteps, AreTheSameBitsWhereverTheModelIsCut) {
  for (const Kind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    TrainerOptions options{.device = DeviceKind::kCuda, .micro_batches = 2, .ema_decay = 0.5};
    const Outcome one = Train(kind, options);
    options.stages = 2;
    options.schedule = "1f1b";
    ExpectSameBits(Train(kind, options), one);
    options.stages = 4;
    options.chunks = 2;
    options.schedule = "interleaved";
    ExpectSameBits(Train(kind, options), one);
  }
}

TEST_F(GpuSteps, OfReplicasHaveTheBitsOfOneWithAsManyMicroBatches) {
  for (const Kind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    TrainerOptions options{
        .device = DeviceKind::kCuda, .micro_batches = 2, .reproducible = true, .clip_norm = 0.5};
    const Outcome one = Train(kind, options);
    options.micro_batches = 1;
    options.replicas = 2;
    ExpectSameBits(Train(kind, options), one);
  }
}

void ExpectNoWait(const Kind& kind) {
  const Device gpu{DeviceKind::kCuda, 0};
  Event begun(gpu);
  TrainerOptions options{.device = DeviceKind::kCuda, .micro_batches = 2};
  int looks = 0;
  options.before_action = [&](const RankPlace&, const Action& action, int64_t) {
    if (action.kind == ActionKind::kForward && action.micro_batch == 1)
      begun.Record(CurrentStream(gpu));
    if (action.kind != ActionKind::kReduce) return;
    EXPECT_FALSE(begun.IsDone());
    ++looks;
  };
  Train(kind, options);
  EXPECT_EQ(looks, kSteps);
}

// Emulated work runs when it is waited for, so what is not done at the end shows that nothing has
// waited: neither for indices and class numbers, which are checked there, nor for the loss. (A loss
// of masked tokens waits for their count.)
TEST_F(GpuSteps, DoNotWaitForTheGpuBeforeTheEndOfTheirBackwards) {
  if (!kEmulatedGpu) GTEST_SKIP() << "what waits shows on emulated GPUs alone";
  for (const size_t model : {0, 2}) {
    SCOPED_TRACE(Kinds()[model].name);
    ExpectNoWait(Kinds()[model]);
  }
}

TEST_F(GpuSteps, GoOnFromAState) {
  const Kind& kind = Kinds()[0];
  const TrainerOptions options{.device = DeviceKind::kCuda, .micro_batches = 2, .ema_decay = 0.5};
  const Outcome whole = Train(kind, options), half = Train(kind, options, {.end = kSteps - 1});
  Outcome rest = Train(kind, options, {.begin = &half.state});
  rest.losses.insert(rest.losses.begin(), half.losses.begin(), half.losses.end());
  ExpectSameBits(rest, whole);
}

// As deep as published: then the noise, too, moves some values to other codes.
Kind DeepMobileNetV2() {
  Kind kind = Kinds()[0];
  kind.make = [] { return MobileNetV2({.num_classes = 5, .width_mult = 0.1}); };
  return kind;
}

TEST_F(GpuSteps, CrossACutBehindACodec) {
  for (const Kind& kind : {DeepMobileNetV2(), Kinds()[1], Kinds()[2]}) {
    SCOPED_TRACE(kind.name);
    TrainerOptions options{.stages = 2, .micro_batches = 2};
    options.codec = [] { return MakeCodec("sortq:8"); };
    const Outcome cpu = Train(kind, options), noisy = Train(kind, options, {.noise = kRounding});
    options.device = DeviceKind::kCuda;
    ExpectSameUpToRounding(Train(kind, options), cpu, noisy);
  }
}

TEST_F(GpuSteps, OfSynchronisedBatchNormMeetOverReplicas) {
  const Kind& kind = Kinds()[0];
  TrainerOptions options{.replicas = 2, .sync_batch_norm = true};
  const Outcome cpu = Train(kind, options), noisy = Train(kind, options, {.noise = kRounding});
  options.device = DeviceKind::kCuda;
  const Outcome gpu = Train(kind, options);
  ExpectSameUpToRounding(gpu, cpu, noisy);
}

// The losses are near those of a CPU that rounds to the same type, as far as such roundings of the
// weights alone move them.
TEST_F(GpuSteps, InOtherPrecisionsAreTheSameBitsWhereverTheModelIsCut) {
  const struct {
    Precision precision;
    float rounding;
  } all[] = {{{DType::kBF16, MatmulMode::kNative}, 0x1p-8},
             {{DType::kF16, MatmulMode::kNative}, 0x1p-11},
             {{DType::kF32, MatmulMode::kTf32}, 0x1p-11}};
  for (const Kind& kind : Kinds()) {
    const Outcome full = Train(kind, {.device = DeviceKind::kCuda, .micro_batches = 2});
    for (const auto& [precision, rounding] : all) {
      SCOPED_TRACE(fmt::format("{} {}", kind.name, Name(precision.low)));
      TrainerOptions options{.micro_batches = 2};
      if (precision.low == DType::kF16) options.loss_scale.emplace();
      const Outcome cpu = Train(kind, options, {.precision = precision.low}),
                    noisy = Train(kind, options, {.noise = rounding, .precision = precision.low});
      options.device = DeviceKind::kCuda;
      const Outcome one = Train(kind, options, {.precision = precision});
      EXPECT_NE(one.losses, full.losses);
      EXPECT_LE(LossDistance(one, cpu),
                kRoundings * (LossDistance(noisy, cpu) + rounding * full.losses[0]));
      EXPECT_EQ(one.state.loss_scale.value, cpu.state.loss_scale.value);
      options.stages = 2;
      ExpectSameBits(Train(kind, options, {.precision = precision}), one);
    }
  }
}

TEST(DeviceCuda, NeedsAGpu) {
  if (GpuCount() > 0) GTEST_SKIP() << "there is a GPU";
  const Kind& kind = Kinds()[0];
  try {
    Train(kind, {.device = DeviceKind::kCuda});
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("device cuda: this "), std::string::npos)
        << error.what();
  }
}

TEST_F(GpuSteps, AreNotSharded) {
  EXPECT_THROW(Train(Kinds()[0], {.device = DeviceKind::kCuda, .replicas = 2, .strategy = "fsdp"}),
               BadInput);
}

}  // namespace
}  // namespace torus::recipes
