// cuDNN itself, asked for plans for an H100 that need not be there. Needs a build with
// --config=cuda, and no GPU: nothing is run.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ops/cuda/cudnn/attention_graphs.h"
#include "ops/cuda/cudnn/conv_graphs.h"
#include "ops/cuda/cudnn/tensor_rules.h"
#include "runtime/on_device.h"
#include "tests/ops/cuda/cudnn/plan_probe.h"

namespace torus::cuda {
namespace {

constexpr bool kHasCudnn = kHasCuda && !kEmulatedGpu;

testing::ProbedPlan Ask(const Graph& graph, const EngineRules& rules,
                        const PlanQuestion& question = {},
                        const std::function<double(const std::string&)>& seconds = {}) {
  if constexpr (kHasCudnn) return testing::PlanForHopper(graph, rules, question, seconds);
  return {};
}

class CudnnPlans : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kHasCudnn) GTEST_SKIP() << "needs --config=cuda: cuDNN is NOT asked";
  }
};

ops::ConvGeometry Geometry(const Shape& image, const Shape& weight,
                           const ops::Conv2dOptions& options) {
  return ops::ConvGeometryOf(image, weight, options);
}

void ExpectPlans(const ops::ConvGeometry& g, DType dtype) {
  SCOPED_TRACE(Name(dtype));
  const ConvOperand operand{dtype};
  const EngineRules rules = RulesFor(dtype);
  for (const Graph& graph : {ConvForwardGraph(g, operand, operand, operand),
                             ConvBackwardInputGraph(g, operand, operand, operand),
                             ConvBackwardWeightGraph(g, operand, operand, operand)}) {
    const testing::ProbedPlan plan = Ask(graph, rules);
    EXPECT_TRUE(plan.found) << "operation " << static_cast<int>(graph.nodes[0].op);
    EXPECT_LE(plan.workspace, rules.most_workspace);
    EXPECT_TRUE(Allows(rules, plan.notes));
  }
}

TEST_F(CudnnPlans, EveryConvolutionHasADeterministicOne) {
  const std::vector<ops::ConvGeometry> geometries{
      Geometry({16, 32, 32, 64}, {128, 3, 3, 64}, {.padding = {1, 1}}),
      Geometry({16, 32, 32, 3}, {32, 3, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}),
      Geometry({4, 16, 16, 96}, {24, 1, 1, 96}, {}),
      Geometry({2, 13, 11, 12}, {18, 3, 3, 4}, {.dilation = {2, 1}, .groups = 3}),
      Geometry({2, 9, 8, 8}, {8, 2, 4, 8}, {.padding_mode = ops::PaddingMode::kSame})};
  for (const ops::ConvGeometry& g : geometries)
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) ExpectPlans(g, dtype);
}

TEST_F(CudnnPlans, ABiasIsAddedWithinAConvolutionOfF32) {
  const auto g = Geometry({16, 32, 32, 64}, {128, 3, 3, 64}, {.padding = {1, 1}});
  const ConvOperand f32{DType::kF32};
  EXPECT_TRUE(Ask(ConvBiasGraph(g, f32, f32, f32, f32), RulesFor(DType::kF32)).found);
}

TEST_F(CudnnPlans, TensorCoresAreTakenForF32WhereTheyAreAllowedAndForSixteenBits) {
  const auto g = Geometry({16, 32, 32, 64}, {128, 3, 3, 64}, {.padding = {1, 1}});
  const auto uses_them = [&](DType dtype, bool allowed) {
    const ConvOperand operand{dtype};
    return Ask(ConvForwardGraph(g, operand, operand, operand),
               {.tensor_cores = allowed, .most_workspace = 1 << 30})
        .notes.tensor_cores;
  };
  EXPECT_TRUE(uses_them(DType::kF32, true));
  EXPECT_FALSE(uses_them(DType::kF32, false));
  EXPECT_TRUE(uses_them(DType::kBF16, true));
}

TEST_F(CudnnPlans, LittleMemoryLeavesOtherPlans) {
  const auto g = Geometry({16, 32, 32, 64}, {128, 3, 3, 64}, {.padding = {1, 1}});
  const ConvOperand f32{DType::kF32};
  const auto plan = Ask(ConvBackwardWeightGraph(g, f32, f32, f32),
                        {.tensor_cores = false, .most_workspace = 1 << 16});
  ASSERT_TRUE(plan.found);
  EXPECT_LE(plan.workspace, 1 << 16);
}

// As if the plans that were built later were quicker.
TEST_F(CudnnPlans, TheQuickestIsFoundAgainByItsChoice) {
  const auto g = Geometry({16, 32, 32, 64}, {128, 3, 3, 64}, {.padding = {1, 1}});
  const ConvOperand bf16{DType::kBF16};
  const Graph graph = ConvForwardGraph(g, bf16, bf16, bf16);
  const EngineRules rules = RulesFor(DType::kBF16);
  std::vector<std::string> timed;
  Plans plans(true);
  const auto tuned = Ask(graph, rules, {"x", &plans}, [&](const std::string& text) {
    timed.push_back(text);
    return 100.0 - static_cast<double>(timed.size());
  });
  ASSERT_TRUE(tuned.found);
  ASSERT_GT(timed.size(), 1u);
  EXPECT_EQ(std::set<std::string>(timed.begin(), timed.end()).size(), timed.size())
      << "engines and knobs tell plans apart";
  EXPECT_EQ(tuned.text, timed.back());
  EXPECT_EQ(tuned.text.find("engine "), 0u) << tuned.text;
  EXPECT_EQ(plans.Find("x")->proposal, timed.back());
  EXPECT_EQ(Ask(graph, rules).text, timed.front());
  Plans known(false, plans.choices());
  const auto again = Ask(graph, rules, {"x", &known});
  EXPECT_EQ(again.text, tuned.text);
  EXPECT_EQ(known.counts().known, 1);
}

bool Knows(const Graph& graph) {
  if constexpr (kHasCudnn) return testing::IsGraphOfCudnn(graph);
  return false;
}

// Its plans compile kernels, which a machine without a driver cannot load; so no more is asked.
TEST_F(CudnnPlans, AttentionIsDescribedAsCudnnTakesIt) {
  for (const int64_t key_heads : {8, 2}) {
    for (const bool causal : {false, true}) {
      const AttentionSizes sizes{2, 8, key_heads, 128, 192, 64, 64, causal, DType::kBF16};
      const HeadsOperand rows{ContiguousStrides({2, 8, 128, 64})};
      const HeadsOperand keys{ContiguousStrides({2, key_heads, 192, 64})};
      EXPECT_TRUE(Knows(AttentionGraph(sizes, rows, keys, keys, rows)));
      EXPECT_TRUE(
          Knows(AttentionGradientGraph(sizes, {rows, keys, keys, rows, rows, rows, keys, keys})));
      // (batch, rows, 3, heads, width), as a packed projection lies.
      const HeadsOperand packed{{128 * 3 * 8 * 64, 64, 3 * 8 * 64, 1}};
      const AttentionSizes self{2, 8, 8, 128, 128, 64, 64, causal, DType::kBF16};
      const HeadsOperand out{{128 * 8 * 64, 64, 8 * 64, 1}};
      EXPECT_TRUE(Knows(AttentionGradientGraph(
          self, {packed, packed, packed, out, out, packed, packed, packed})));
    }
  }
}

TEST_F(CudnnPlans, ADescriptionThatContradictsItselfIsAnError) {
  auto g = Geometry({16, 32, 32, 64}, {128, 3, 3, 64}, {.padding = {1, 1}});
  ++g.oh;  // no such convolution
  const ConvOperand f32{DType::kF32};
  EXPECT_THROW(Ask(ConvForwardGraph(g, f32, f32, f32), RulesFor(DType::kF32)), BrokenEnvironment);
}

}  // namespace
}  // namespace torus::cuda
