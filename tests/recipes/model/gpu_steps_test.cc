// Training steps on GPUs: small models of three kinds come to the CPU's losses and weights up to
// rounding, and to the same bits wherever they are cut. Skips where there is no GPU: run it with
// --config=emulated_gpu.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "parallel/codec/make_codec.h"
#include "parallel/optim/adam.h"
#include "runtime/stream.h"
#include "tests/recipes/model/small_models.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

constexpr int64_t kSteps = 3;  // the last of fewer rows
constexpr double kRate = 1e-3;
constexpr float kRounding = std::numeric_limits<float>::epsilon();  // relative, of f32

class GpuSteps : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

// Moves every weight by `noise` of itself, up or down.
void AddNoise(float noise, std::vector<Block>& blocks) {
  uint64_t number = 0;
  for (Block& block : blocks)
    for (NamedVariable& parameter : block.parameters) {
      Tensor& values = parameter.value.mutable_data();
      Tensor signs = Empty(values.shape());
      FillUniform(signs, -1, 1, RandomStream({.seed = 11, .step = number++}));
      for (int64_t i = 0; i < values.numel(); ++i)
        values.mutable_data<float>()[i] *= 1 + std::copysign(noise, signs.data<float>()[i]);
    }
}

// What differs of a training beside its options.
struct Setup {
  float noise = 0;
  Precision precision;
  const TrainState* begin = nullptr;  // a state to go on from
  int64_t end = kSteps;
};

TrainingParts PartsOf(const Kind& kind, const Setup& setup) {
  TrainingParts parts;
  parts.model = [&kind, setup] {
    std::vector<Block> blocks = BlocksOf(kind, false);
    for (Block& block : blocks) block.precision = setup.precision;
    if (setup.noise > 0) AddNoise(setup.noise, blocks);
    return blocks;
  };
  parts.loss = [&kind, setup](const auto& outputs, const auto& targets) {
    const WithPrecision with(setup.precision);
    return kind.loss(outputs, targets[0]);
  };
  parts.optimizer = [](std::vector<NamedVariable> parameters) {
    return std::make_unique<Adam>(std::move(parameters),
                                  AdamOptions{.eps = 1e-3, .weight_decay = 0.01});
  };
  parts.learning_rate = [](int64_t) { return kRate; };
  parts.largest_inputs = InputsOf(kind);
  return parts;
}

struct Outcome {
  std::vector<double> losses;
  TrainState state;
  double evaluated = 0;
};

Outcome Train(const Kind& kind, TrainerOptions options, const Setup& setup = {}) {
  options.seed = 5;
  Trainer trainer(options, PartsOf(kind, setup));
  if (setup.begin != nullptr) trainer.SetState(*setup.begin);
  const BatchFn batches = [&](int64_t step, const RankPlace& place) {
    const int64_t rows = RowsOf(step), first = rows * place.replica / options.replicas,
                  last = rows * (place.replica + 1) / options.replicas;
    return BatchOf(kind, step, first, last, options.micro_batches, rows);
  };
  Outcome outcome;
  trainer.Train(setup.end, batches,
                {.on_step = [&](const StepReport& r) { outcome.losses.push_back(r.loss); }});
  outcome.evaluated = trainer.Evaluate(1, batches).loss;
  outcome.state = trainer.State();
  return outcome;
}

// Of all weights together.
double Distance(const TrainState& a, const TrainState& b) {
  double squares = 0;
  for (size_t i = 0; i < a.weights.size(); ++i) {
    EXPECT_EQ(a.weights[i].name, b.weights[i].name);
    const auto x = ToVector<double>(a.weights[i].value.To(DType::kF64)),
               y = ToVector<double>(b.weights[i].value.To(DType::kF64));
    for (size_t e = 0; e < x.size(); ++e) squares += (x[e] - y[e]) * (x[e] - y[e]);
  }
  return std::sqrt(squares);
}

double LossDistance(const Outcome& a, const Outcome& b) {
  double largest = std::fabs(a.evaluated - b.evaluated);
  for (size_t i = 0; i < a.losses.size(); ++i)
    largest = std::max(largest, std::fabs(a.losses[i] - b.losses[i]));
  return largest;
}

// A step rounds each value a few times where the noise does it once, in every layer.
constexpr double kRoundings = 32;

void ExpectSameUpToRounding(const Outcome& gpu, const Outcome& cpu, const Outcome& noisy) {
  ASSERT_EQ(gpu.losses.size(), cpu.losses.size());
  const double rounding = kRounding * cpu.losses[0];
  EXPECT_LE(LossDistance(gpu, cpu), kRoundings * (LossDistance(noisy, cpu) + rounding));
  EXPECT_LE(Distance(gpu.state, cpu.state), kRoundings * Distance(noisy.state, cpu.state));
}

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

void ExpectSameBits(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.evaluated, b.evaluated);
  for (auto list : {&TrainState::weights, &TrainState::optimizer, &TrainState::averages}) {
    const std::vector<NamedTensor>&x = a.state.*list, &y = b.state.*list;
    ASSERT_EQ(x.size(), y.size());
    for (const NamedTensor& tensor : x) {
      const auto same = std::ranges::find(y, tensor.name, &NamedTensor::name);
      ASSERT_NE(same, y.end()) << tensor.name;
      EXPECT_EQ(tensor.value.device(), Device{});
      EXPECT_EQ(std::memcmp(tensor.value.raw(), same->value.raw(), tensor.value.bytes()), 0)
          << tensor.name;
    }
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

TEST_F(GpuSteps, GoOnFromAState) {
  const Kind& kind = Kinds()[0];
  const TrainerOptions options{.device = DeviceKind::kCuda, .micro_batches = 2, .ema_decay = 0.5};
  const Outcome whole = Train(kind, options), half = Train(kind, options, {.end = kSteps - 1});
  Outcome rest = Train(kind, options, {.begin = &half.state});
  rest.losses.insert(rest.losses.begin(), half.losses.begin(), half.losses.end());
  ExpectSameBits(rest, whole);
}

TEST_F(GpuSteps, CrossACutBehindACodec) {
  for (const Kind& kind : Kinds()) {
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
  } all[] = {{{DType::kBF16, Products::kNative}, 0x1p-8},
             {{DType::kF16, Products::kNative}, 0x1p-11},
             {{DType::kF32, Products::kTf32}, 0x1p-11}};
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
