// A layer that needs more than one sample refuses the smallest micro-batch before the first step.
#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

// The third block of four needs two rows while training.
TrainingParts PartsWith(const ToyRun& run, int64_t smallest, bool recompute) {
  TrainingParts parts = run.Parts();
  parts.model = [recompute] {
    std::vector<Block> blocks = ToyModel(4);
    blocks[2].forward = [inner = blocks[2].forward](const std::vector<Variable>& x,
                                                    const StepContext& c) {
      Require(!c.training || x[0].dim(0) >= 2, "needs_two", "got {} row", x[0].dim(0));
      return inner(x, c);
    };
    for (Block& block : blocks) block.recompute = recompute;
    return blocks;
  };
  parts.smallest_inputs = {{Shape{smallest, kWidth}, DType::kF64}};
  parts.smallest_advice = "take more rows";
  return parts;
}

TEST(SmallestMicroBatch, IsRefusedBeforeTheFirstStepByTheBlockThatNeedsMore) {
  for (const int stages : {1, 2, 4})
    for (const bool recompute : {false, true}) {
      ToyRun run;
      run.options = {.stages = stages, .replicas = 2, .micro_batches = 2};
      try {
        Trainer trainer(run.options, PartsWith(run, 1, recompute));
        FAIL();
      } catch (const BadInput& error) {
        const std::string message = error.what();
        for (const char* part : {"before step 0, smallest micro-batch", "block 2 (layer2)",
                                 "[needs_two] got 1 row; take more rows"})
          EXPECT_NE(message.find(part), std::string::npos) << message;
      }
    }
}

// So the first step waits for nothing that only a smaller micro-batch needs, such as a plan of
// cuDNN for its shape.
TEST(SmallestMicroBatch, IsTriedWithoutComputing) {
  ToyRun run;
  run.options = {.stages = 1, .replicas = 1, .micro_batches = 2};
  TrainingParts parts = PartsWith(run, 2, false);
  const auto devices = std::make_shared<std::vector<Device>>();
  parts.model = [devices, model = parts.model] {
    std::vector<Block> blocks = model();
    blocks[0].forward = [devices, inner = blocks[0].forward](const std::vector<Variable>& x,
                                                             const StepContext& c) {
      if (c.training && x[0].dim(0) == 2) devices->push_back(x[0].data().device());
      return inner(x, c);
    };
    return blocks;
  };
  const Trainer trainer(run.options, parts);
  EXPECT_FALSE(devices->empty());
  for (const Device device : *devices) EXPECT_EQ(device, kMetaDevice);
}

TEST(SmallestMicroBatch, LeavesNoTraceWhereItIsTaken) {
  ToyRun run;
  run.options = {.stages = 2, .replicas = 2, .micro_batches = 2};
  ExpectEqualBits(TrainFor(run, 3), TrainFor(run, 3, PartsWith(run, 2, false)));
}

}  // namespace
}  // namespace torus::parallel
