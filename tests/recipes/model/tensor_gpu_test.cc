// Tensor-parallel ranks on two GPUs: their sums by NCCL have the bits of sums in the CPU's memory,
// and shares of what crosses a cut those of whole tensors. Skips where there are no two GPUs: run
// it with --config=emulated_gpu.

#include "parallel/codec/make_codec.h"
#include "parallel/transport/nccl/nccl_world.h"
#include "parallel/transport/rank_gpu.h"
#include "parallel/transport/run_ranks.h"
#include "tests/parallel/transport/nccl/emulated_nccl.h"
#include "tests/recipes/model/split_models.h"
#include "tests/testing/same_bits.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

constexpr int kGpus = 2;
constexpr int64_t kSteps = 2;
constexpr double kTimeout = 600;  // emulated steps are slow

class TensorGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = NcclForTests(kGpus);
    if (library_ == nullptr) GTEST_SKIP() << "no two GPUs, no --config=emulated_gpu: NOT tested";
  }
  // Sums made by the emulated NCCL so far.
  int sums() const {
    const auto* emulated = dynamic_cast<const EmulatedNccl*>(library_.get());
    return emulated != nullptr ? emulated->sums() : 0;
  }
  bool emulated() const { return dynamic_cast<const EmulatedNccl*>(library_.get()) != nullptr; }

  std::unique_ptr<NcclLibrary> library_;
};

struct Result {
  std::vector<double> losses;
  TrainState state;
};

Result ResultOf(SplitRun& run) {
  Result result{run.Steps(kSteps)};
  result.losses.push_back(run.Evaluate());
  result.state = run.trainer->State();
  return result;
}

void ExpectSameBits(const Result& a, const Result& b) {
  EXPECT_EQ(a.losses, b.losses);
  torus::testing::ExpectSameBits(a.state.weights, b.state.weights);
}

TrainerOptions OnGpus(int stages = 1) {
  TrainerOptions options = SplitOptions(2, stages);
  options.device = DeviceKind::kCuda;
  options.timeout = kTimeout;
  return options;
}

// Two terms have one sum, whoever adds them.
TEST_F(TensorGpus, SumByNcclWithTheBitsOfSumsInTheCpusMemory) {
  for (const SplitKind* split : {&F32Gpt2(), &F32Roberta()}) {
    SCOPED_TRACE(split->kind.name);
    TrainerOptions options = OnGpus();
    SplitRun copies(*split, options);
    const Result direct = ResultOf(copies);
    ThreadWorld threads(kGpus, {.timeout = kTimeout});
    NcclWorld world(threads, *library_, kTimeout, GpuInTurn);
    options.collectives = "engine";
    const int before = sums();
    SplitRun by_nccl(*split, options, &world);
    ExpectSameBits(ResultOf(by_nccl), direct);
    // Two a block each way, of each micro-batch, at the least.
    EXPECT_GE(sums() - before, emulated() ? 4 * kSplitLayers * 4 * kSteps : 0);
  }
}

// Four ranks, two on each GPU, whose memory is copied within the process.
TEST_F(TensorGpus, CrossCutsInSharesWithTheBitsOfWholeTensors) {
  for (const char* codec : {"none", "sortq:8"}) {
    SCOPED_TRACE(codec);
    TrainerOptions options = OnGpus(2);
    options.codec = [codec] { return MakeCodec(codec); };
    SplitRun shares(F32Gpt2(), options);
    options.share_cuts = false;
    SplitRun whole(F32Gpt2(), options);
    ExpectSameBits(ResultOf(shares), ResultOf(whole));
  }
}

}  // namespace
}  // namespace torus::recipes
