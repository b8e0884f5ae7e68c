// Training steps on two GPUs whose memory NCCL moves: the bits of those whose memory is copied,
// where the model is cut, and up to rounding those of one, where replicas' gradients are summed.
// Skips where there are no two GPUs: run it with --config=emulated_gpu.
#include <gtest/gtest.h>

#include "parallel/codec/make_codec.h"
#include "parallel/transport/nccl/nccl_world.h"
#include "parallel/transport/rank_gpu.h"
#include "parallel/transport/run_ranks.h"
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
  Outcome TrainByNccl(const Kind& kind, TrainerOptions options) {
    ThreadWorld threads(kRanks, {.timeout = kTimeout});
    NcclWorld world(threads, *library_, kTimeout, GpuInTurn);
    options.device = DeviceKind::kCuda;
    return Train(kind, options, {.world = &world});
  }
  // Messages that the emulated NCCL has moved; of NCCL itself 1 for some.
  int messages() const {
    const auto* const emulated = dynamic_cast<const EmulatedNccl*>(library_.get());
    return emulated == nullptr ? 1 : emulated->messages();
  }

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
    EXPECT_GE(messages() - before, messages() == 1 ? 0 : 2 * 2 * kSteps);
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

}  // namespace
}  // namespace torus::recipes
