// Training steps that are launched as CUDA graphs have the bits of those that are not. Skips where
// there is no GPU: run it with --config=emulated_gpu.
#include <gtest/gtest.h>

#include "autograd/node.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduction/reduction.h"
#include "parallel/codec/make_codec.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/stream.h"
#include "tests/recipes/model/gpu_training.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

class GraphSteps : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

// Of 8, 8, 7, 8, 8, 7 and 8 rows: the second step is recorded, those of 8 rows behind it launched,
// those of 7 computed as ever.
constexpr int64_t kManySteps = 7;
constexpr int64_t kLaunched = 4;

TrainerOptions OnGpu(CudaGraphs graphs) {
  TrainerOptions options{.device = DeviceKind::kCuda, .micro_batches = 2, .clip_norm = 0.5};
  options.cuda_graphs = graphs;
  return options;
}

Outcome TrainLong(const Kind& kind, const TrainerOptions& options, Setup setup = {}) {
  setup.end = kManySteps;
  return Train(kind, options, setup);
}

// Another target at a place of the fifth step.
Rows TokensWith(int64_t step, int64_t at, int64_t target) {
  Rows rows = Tokens(step);
  if (step == 4) rows.targets.mutable_data<int64_t>()[at] = target;
  return rows;
}

void ExpectGraphs(const Kind& kind, TrainerOptions options, const Setup& setup = {}) {
  options.cuda_graphs = CudaGraphs::kOff;
  const Outcome ever = TrainLong(kind, options, setup);
  EXPECT_EQ(ever.totals.graph_steps, 0);
  options.cuda_graphs = CudaGraphs::kOn;
  const Outcome graphs = TrainLong(kind, options, setup);
  ExpectSameBits(graphs, ever);
  // A step that is skipped halves the scale of f16's loss, and one more is computed as ever.
  EXPECT_EQ(graphs.totals.graph_steps, kLaunched - graphs.totals.skipped_steps);
}

// Batch norm's statistics; dropout's numbers and tied weights.
TEST_F(GraphSteps, HaveTheBitsOfOthers) {
  for (const size_t model : {0, 2}) {
    SCOPED_TRACE(Kinds()[model].name);
    ExpectGraphs(Kinds()[model], OnGpu(CudaGraphs::kOn));
  }
}

TEST_F(GraphSteps, AreLeftOutToTimeEachActionsWork) {
  TrainerOptions options = OnGpu(CudaGraphs::kAuto);
  const Outcome ever = TrainLong(Kinds()[0], options);
  options.times_gpu_work = true;
  const Outcome timed = TrainLong(Kinds()[0], options);
  EXPECT_EQ(timed.totals.graph_steps, 0);
  ExpectSameBits(timed, ever);
}

TEST_F(GraphSteps, OfSeveralStagesOnOneRankHaveTheirs) {
  TrainerOptions options = OnGpu(CudaGraphs::kOn);
  options.stages = options.chunks = 2;
  options.schedule = "interleaved";
  options.ema_decay = 0.5;
  ExpectGraphs(Kinds()[2], options);
}

// Each replica launches a graph of its own, and the sums come behind it.
TEST_F(GraphSteps, OfReplicasHaveTheirs) {
  TrainerOptions options = OnGpu(CudaGraphs::kOn);
  options.replicas = 2;
  options.micro_batches = 1;
  ExpectGraphs(Kinds()[0], options);
  options.stages = options.chunks = 2;
  options.schedule = "interleaved";
  options.micro_batches = 2;
  options.reduce_codec = [] { return MakeCodec("sortq:8"); };
  ExpectGraphs(Kinds()[2], options);
  options.cuda_graphs = CudaGraphs::kAuto;
  EXPECT_NE(WhyNoGraphs(options), "");
}

// Low copies of weights are made within the graph; f16's scale of the loss is part of the key.
TEST_F(GraphSteps, InLowPrecisionsHaveTheirs) {
  TrainerOptions options = OnGpu(CudaGraphs::kOn);
  ExpectGraphs(Kinds()[2], options, {.precision = {DType::kBF16, MatmulMode::kNative}});
  options.loss_scale.emplace(128);
  ExpectGraphs(Kinds()[0], options, {.precision = {DType::kF16, MatmulMode::kNative}});
}

// The second model's loss reads how many tokens are masked, which is the same in all of these
// steps. Where it is not, a step is computed as ever after all, and so are those behind it.
TEST_F(GraphSteps, AreComputedAgainWhereANumberIsAnother) {
  Kind kind = Kinds()[1];
  ExpectGraphs(kind, OnGpu(CudaGraphs::kOn));
  for (const int64_t other : {-100, 3}) {  // one less, one more
    kind.rows = other < 0 ? +[](int64_t step) { return TokensWith(step, 0, -100); }
                          : +[](int64_t step) { return TokensWith(step, 2 * kTokens - 1, 3); };
    const Outcome ever = TrainLong(kind, OnGpu(CudaGraphs::kOff));
    const Outcome tried = TrainLong(kind, OnGpu(CudaGraphs::kAuto));
    ExpectSameBits(tried, ever);
    EXPECT_EQ(tried.totals.graph_steps, 2);    // steps 1 and 3
    EXPECT_EQ(tried.totals.graph_updates, 1);  // of step 3
    EXPECT_NE(tried.totals.why_no_graph, "");
    EXPECT_THROW(TrainLong(kind, OnGpu(CudaGraphs::kOn)), BadInput);
  }
}

// Actions of a step that is computed again count once, as forwards and backwards.
TEST_F(GraphSteps, TakeNoMoreTimeThanThereIs) {
  Kind kind = Kinds()[1];
  kind.rows = [](int64_t step) { return TokensWith(step, 0, -100); };
  const Outcome tried = TrainLong(kind, OnGpu(CudaGraphs::kAuto));
  EXPECT_NE(tried.totals.why_no_graph, "") << "no step was computed again";
  const RankTime& time = tried.totals.ranks.at(0);
  const double actions = time.forward + time.backward + time.transfer + time.reduce +
                         time.optimizer + time.data_wait + time.idle;
  EXPECT_LE(actions, time.wall * (1 + 1e-9)) << "up to the roundings of the sums";
}

// Leaves a GPU a quarter of what the recorded step, the second one, keeps: fills what is free in
// the segments that the allocator holds, and limits what it may take besides.
class ShortOfMemory {
 public:
  void operator()(int64_t step) {
    const size_t live = allocator_.stats().live_bytes;
    if (step == 1) {
      allocator_.ReleaseCached();
      allocator_.SetLimit(allocator_.stats().held_bytes);
      for (size_t bytes = size_t{64} << 20; bytes >= 512; bytes /= 2) Fill(bytes);
      allocator_.SetLimit(allocator_.stats().held_bytes + (live - before_) / 4);
    }
    before_ = live;
  }
  ~ShortOfMemory() {
    for (const auto& [block, bytes] : blocks_) allocator_.Free(block, bytes);
    allocator_.SetLimit(0);
  }

 private:
  void Fill(size_t bytes) {
    try {
      while (true) blocks_.emplace_back(allocator_.Allocate(bytes), bytes);
    } catch (const BrokenEnvironment&) {  // no block of this size is left
    }
  }

  Allocator& allocator_ = AllocatorFor({DeviceKind::kCuda, 0});
  std::vector<std::pair<void*, size_t>> blocks_;
  size_t before_ = 0;
};

// A step of 7 rows has no room beside the graph, which it gives up; after it two of 8 rows make it
// anew.
TEST_F(GraphSteps, GiveWayToOthersWhereMemoryIsShort) {
  const Kind& kind = Kinds()[0];
  const Outcome ever = TrainLong(kind, OnGpu(CudaGraphs::kOff));
  ShortOfMemory is_short;
  const Outcome graphs =
      TrainLong(kind, OnGpu(CudaGraphs::kOn), {.on_step = [&](int64_t step) { is_short(step); }});
  ExpectSameBits(graphs, ever);
  EXPECT_EQ(graphs.totals.graph_steps, 2) << "the second and the fifth";
}

// Such steps are computed as ever, and why is told.
TEST_F(GraphSteps, AreLeftAloneWhereTheModelWaitsForTheGpu) {
  Kind kind = Kinds()[0];
  kind.loss = [loss = kind.loss](const auto& outputs, const Tensor& targets) {
    EXPECT_EQ(targets.To(Device{}).device(), Device{});
    return loss(outputs, targets);
  };
  const Outcome ever = TrainLong(kind, OnGpu(CudaGraphs::kOff));
  const Outcome tried = TrainLong(kind, OnGpu(CudaGraphs::kAuto));
  ExpectSameBits(tried, ever);
  EXPECT_EQ(tried.totals.graph_steps, 0);
  EXPECT_NE(tried.totals.why_no_graph.find("cuda"), std::string::npos) << tried.totals.why_no_graph;
  EXPECT_THROW(TrainLong(kind, OnGpu(CudaGraphs::kOn)), BrokenEnvironment);
}

// In a replayed step, too, a class that is none ends the run before the optimizer's step.
TEST_F(GraphSteps, FindWrongClassNumbers) {
  Kind kind = Kinds()[0];
  kind.rows = [](int64_t step) {
    Rows rows = Images(step);
    if (step == 4) rows.targets.mutable_data<int64_t>()[5] = 17;
    return rows;
  };
  try {
    TrainLong(kind, OnGpu(CudaGraphs::kOn));
    FAIL();
  } catch (const BadInput& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("step 4"), std::string::npos) << message;
    EXPECT_NE(message.find("target 17 at position 1 is"), std::string::npos) << message;
  }
}

// A hidden input of the recorded work would show: the second call goes on from new weights.
TEST_F(GraphSteps, GoOnFromAState) {
  const Kind& kind = Kinds()[2];
  const Outcome whole = TrainLong(kind, OnGpu(CudaGraphs::kOn));
  const Outcome half = Train(kind, OnGpu(CudaGraphs::kOn), {.end = kSteps});
  Outcome rest = TrainLong(kind, OnGpu(CudaGraphs::kOn), {.begin = &half.state});
  rest.losses.insert(rest.losses.begin(), half.losses.begin(), half.losses.end());
  ExpectSameBits(rest, whole);
}

TEST_F(GraphSteps, AreRefusedWhereTheyCannotBe) {
  for (const auto set : {+[](TrainerOptions& o) { o.device = DeviceKind::kCpu; },
                         +[](TrainerOptions& o) { o.stages = 2; },
                         +[](TrainerOptions& o) { o.replicas = 2, o.sync_batch_norm = true; },
                         +[](TrainerOptions& o) { o.tensor = 2; },
                         +[](TrainerOptions& o) { o.times_gpu_work = true; },
                         +[](TrainerOptions& o) { o.reproducible = true; }}) {
    TrainerOptions options = OnGpu(CudaGraphs::kOn);
    set(options);
    EXPECT_THROW(Train(Kinds()[0], options), BadInput);
    options.cuda_graphs = CudaGraphs::kAuto;
    EXPECT_NE(WhyNoGraphs(options), "");
  }
  EXPECT_EQ(WhyNoGraphs(OnGpu(CudaGraphs::kOn)), "");
}

// A launched step runs no code of the model's.
TEST_F(GraphSteps, AreComputedByTheGraphAlone) {
  TrainerOptions options = OnGpu(CudaGraphs::kOn);
  int calls = 0;
  Kind kind = Kinds()[0];
  kind.loss = [&](const auto& outputs, const Tensor&) {
    calls += GradEnabled() ? 1 : 0;
    return ops::Mean(ops::Mul(outputs[0], outputs[0]));
  };
  TrainLong(kind, options);
  // Two micro-batches of three steps as ever and one recorded.
  EXPECT_EQ(calls, 2 * (kManySteps - kLaunched + 1));
}

}  // namespace
}  // namespace torus::recipes
