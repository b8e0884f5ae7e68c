#include "parallel/pipeline/stage_runner.h"

#include <gtest/gtest.h>

namespace torus::parallel {
namespace {

// Of doubles, (1e16 + 1) - 1e16 is 0 and (1e16 - 1e16) + 1 is 1.
TEST(StageRunner, TheLossIsSummedInTheOrderOfMicroBatchesWhateverTheirForwards) {
  Block same{.name = "same",
             .forward = [](const std::vector<Variable>& x, const StepContext&) { return x; }};
  Stage stage({same}, 0);
  const LossFn loss = [](const auto&, const std::vector<Tensor>& targets) {
    return Variable(targets[0]);
  };
  const std::vector<double> losses{1e16, 1, -1e16};
  StageRunner runner(stage, 0, &loss, 3);
  for (const std::vector<int>& order : {std::vector{0, 1, 2}, {0, 2, 1}, {2, 1, 0}}) {
    runner.Begin();
    for (const int m : order) {
      StepContext context;
      context.micro_batch = m;
      const MicroBatch data{.inputs = {Zeros(Shape{1})},
                            .targets = {Full(Shape{}, losses[m], DType::kF64)}};
      runner.Forward(m, data, {}, context);
    }
    EXPECT_EQ(runner.loss(), 0);
    EXPECT_TRUE(runner.finite());
  }
}

}  // namespace
}  // namespace torus::parallel
