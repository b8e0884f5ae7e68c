// Training steps on two GPUs whose memory NCCL moves: the bits of those whose memory is copied,
// where the model is cut, and up to rounding those of one, where replicas' gradients are summed.
// Skips where there are no two GPUs: run it with --config=emulated_gpu.
#include <gtest/gtest.h>

#include "parallel/codec/make_codec.h"
#include "parallel/transport/nccl/nccl_world.h"
#include "parallel/transport/rank_gpu.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/stream.h"
#include "tests/parallel/transport/nccl/emulated_nccl.h"
#include "tests/recipes/model/gpu_training.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

constexpr int kRanks = 2;
constexpr double kTimeout = 600;  // emulated steps are slow

class NcclSteps : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = NcclForTests(kRanks);
    if (library_ == nullptr) GTEST_SKIP() << "no two GPUs, no --config=emulated_gpu: NOT tested";
  }
  Outcome TrainByNccl(const Kind& kind, TrainerOptions options, int64_t end = kSteps) {
    ThreadWorld threads(kRanks, {.timeout = kTimeout});
    NcclWorld world(threads, *library_, kTimeout, GpuInTurn);
    options.device = DeviceKind::kCuda;
    return Train(kind, options, {.end = end, .world = &world});
  }
  // Null where NCCL itself moves the memory of real GPUs.
  const EmulatedNccl* EmulatedLibrary() const {
    return dynamic_cast<const EmulatedNccl*>(library_.get());
  }
  int messages() const { return EmulatedLibrary() ? EmulatedLibrary()->messages() : 0; }
  int sums() const { return EmulatedLibrary() ? EmulatedLibrary()->sums() : 0; }

  std::unique_ptr<NcclLibrary> library_;
};

TEST_F(NcclSteps, OfAModelThatIsCutHaveTheBitsOfCopies) {
  for (const Kind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    TrainerOptions options{.device = DeviceKind::kCuda,
                           .stages = 2,
                           .micro_batches = 2,
                           .schedule = "1f1b",
                           .clip_norm = 0.5,
                           .ema_decay = 0.5};
    const int before = messages();
    const Outcome moved = TrainByNccl(kind, options);
    ExpectSameBits(moved, Train(kind, options));
    // An activation and a gradient of each micro-batch, at the least.
    EXPECT_GE(messages() - before, EmulatedLibrary() ? 2 * 2 * kSteps : 0);
  }
}

TEST_F(NcclSteps, OfInterleavedStagesBehindACodecHaveTheBitsOfCopies) {
  const Kind& kind = Kinds()[2];
  TrainerOptions options{.device = DeviceKind::kCuda,
                         .stages = 4,
                         .chunks = 2,
                         .micro_batches = 2,
                         .schedule = "interleaved"};
  options.codec = [] { return MakeCodec("sortq:8"); };
  ExpectSameBits(TrainByNccl(kind, options), Train(kind, options));
}

// Two terms have one sum, so by NCCL's engine too the bits are those of sums in the CPU's memory,
// and whatever the buckets.
TEST_F(NcclSteps, OfReplicasSumTheirGradientsOnTheGpus) {
  for (const Kind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    TrainerOptions options{.device = DeviceKind::kCuda, .replicas = 2, .clip_norm = 0.5};
    const Outcome direct = Train(kind, options);
    options.collectives = "engine";
    for (const size_t bucket_bytes : {size_t{1} << 10, size_t{25} << 20}) {
      options.bucket_bytes = bucket_bytes;
      const int before = sums();
      ExpectSameBits(TrainByNccl(kind, options), direct);
      EXPECT_GE(sums() - before, EmulatedLibrary() ? kSteps : 0);
    }
  }
}

// NCCL sums behind the launches what it sums beside backwards that are none.
TEST_F(NcclSteps, OfReplicasThatLaunchGraphsHaveTheBitsOfOthers) {
  constexpr int64_t kEnd = 5;  // of 8, 8, 7, 8 and 8 rows: the second is recorded
  for (const size_t model : {0, 2}) {
    SCOPED_TRACE(Kinds()[model].name);
    TrainerOptions options{.replicas = 2, .collectives = "engine", .clip_norm = 0.5};
    options.bucket_bytes = size_t{1} << 10;
    const Outcome ever = TrainByNccl(Kinds()[model], options, kEnd);
    options.cuda_graphs = CudaGraphs::kOn;
    const int before = sums();
    const Outcome graphs = TrainByNccl(Kinds()[model], options, kEnd);
    ExpectSameBits(graphs, ever);
    EXPECT_EQ(graphs.totals.graph_steps, 3);
    EXPECT_EQ(graphs.totals.graph_updates, 2) << "of the last two";
    EXPECT_GE(sums() - before, EmulatedLibrary() ? kEnd : 0);
  }
}

TEST_F(NcclSteps, OfReplicasAreTheCpusUpToRounding) {
  const Kind& kind = Kinds()[1];
  TrainerOptions options{.replicas = 2, .micro_batches = 2};
  const Outcome cpu = Train(kind, options), noisy = Train(kind, options, {.noise = kRounding});
  options.collectives = "engine";
  ExpectSameUpToRounding(TrainByNccl(kind, options), cpu, noisy);
}

TEST_F(NcclSteps, OfReproducibleReplicasHaveTheBitsOfOne) {
  const Kind& kind = Kinds()[0];
  TrainerOptions options{.device = DeviceKind::kCuda, .micro_batches = 2, .reproducible = true};
  const Outcome one = Train(kind, options);
  options.micro_batches = 1;
  options.replicas = 2;
  ExpectSameBits(TrainByNccl(kind, options), one);
}

TEST_F(NcclSteps, NeedNcclWhereAnEngineIsToSum) {
  EXPECT_THROW(
      Train(Kinds()[2], {.device = DeviceKind::kCuda, .replicas = 2, .collectives = "engine"}),
      BadInput);
}

}  // namespace
}  // namespace torus::recipes
