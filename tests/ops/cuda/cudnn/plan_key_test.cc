// Keys differ wherever what cuDNN is told differs.
#include "ops/cuda/cudnn/plan_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "ops/cuda/cudnn/conv_graphs.h"

namespace torus::cuda {
namespace {

constexpr ops::ConvGeometry kGeometry{.n = 2,
                                      .h = 9,
                                      .w = 8,
                                      .c = 4,
                                      .o = 6,
                                      .kh = 3,
                                      .kw = 2,
                                      .oh = 5,
                                      .ow = 7,
                                      .stride_h = 2,
                                      .stride_w = 1,
                                      .dilation_h = 1,
                                      .dilation_w = 1,
                                      .top = 1,
                                      .left = 0,
                                      .bottom = 1,
                                      .right = 0,
                                      .groups = 1};

Graph Forward(const ops::ConvGeometry& g, const ConvOperand& x = {DType::kBF16}) {
  return ConvForwardGraph(g, x, {DType::kBF16}, {DType::kBF16});
}

TEST(PlanKey, IsTheSameForTheSame) {
  EXPECT_EQ(KeyOf(Forward(kGeometry), {}), KeyOf(Forward(kGeometry), {}));
}

TEST(PlanKey, DiffersWithEachSizeStepAndPadding) {
  using G = ops::ConvGeometry;
  std::set<PlanKey> keys{KeyOf(Forward(kGeometry), {})};
  for (int64_t G::*field :
       {&G::n, &G::h, &G::w, &G::c, &G::o, &G::kh, &G::kw, &G::oh, &G::ow, &G::stride_h,
        &G::stride_w, &G::dilation_h, &G::dilation_w, &G::top, &G::left, &G::bottom, &G::right}) {
    G other = kGeometry;
    ++(other.*field);
    EXPECT_TRUE(keys.insert(KeyOf(Forward(other), {})).second);
  }
  G grouped = kGeometry;
  grouped.groups = 2;
  EXPECT_TRUE(keys.insert(KeyOf(Forward(grouped), {})).second);
}

TEST(PlanKey, DiffersWithTypesAndAlignment) {
  std::set<PlanKey> keys;
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16})
    for (const int64_t alignment : {2, 4, 16})
      EXPECT_TRUE(keys.insert(KeyOf(Forward(kGeometry, {dtype, alignment}), {})).second);
}

TEST(PlanKey, DiffersWithTheOperation) {
  const ConvOperand f32{DType::kF32};
  std::set<PlanKey> keys;
  for (const Graph& graph :
       {ConvForwardGraph(kGeometry, f32, f32, f32), ConvBiasGraph(kGeometry, f32, f32, f32, f32),
        ConvBackwardInputGraph(kGeometry, f32, f32, f32),
        ConvBackwardWeightGraph(kGeometry, f32, f32, f32)})
    EXPECT_TRUE(keys.insert(KeyOf(graph, {})).second);
}

TEST(PlanKey, DiffersWithTheRules) {
  const Graph graph = Forward(kGeometry);
  std::set<PlanKey> keys;
  for (const bool cores : {false, true})
    for (const int64_t workspace : {0, 1})
      EXPECT_TRUE(
          keys.insert(KeyOf(graph, {.tensor_cores = cores, .most_workspace = workspace})).second);
}

TEST(PlanKey, DiffersWithTheChoicesThatAreFollowed) {
  const Graph graph = Forward(kGeometry);
  EXPECT_NE(KeyOf(graph, {}, 1), KeyOf(graph, {}, 2));
  EXPECT_EQ(KeyOf(graph, {}, 0), KeyOf(graph, {}));
}

TEST(PlanText, HasANameAndDiffersWithGraphAndRules) {
  const std::string text = TextOf(Forward(kGeometry), {});
  EXPECT_EQ(text.find("convolution of bf16 (2, 4, 9, 8) and bf16 (6, 4, 3, 2), by tensor cores"),
            0u)
      << text;
  EXPECT_EQ(TextOf(Forward(kGeometry), {}), text);
  ops::ConvGeometry other = kGeometry;
  ++other.top;
  EXPECT_NE(TextOf(Forward(other), {}), text);
  EXPECT_NE(TextOf(Forward(kGeometry), {.tensor_cores = false}), text);
  EXPECT_NE(TextOf(Forward(kGeometry), {.most_workspace = 1}), text);
}

TEST(PlanKey, DiffersWithStridesPlacesAxesAndOperands) {
  const auto graph_with = [](const std::function<void(Graph&)>& change) {
    Graph graph;
    const int64_t a = graph.Add({DType::kF32, {2, 3}, {3, 1}});
    const int64_t b = graph.Add({DType::kF32, {2, 3}, {3, 1}});
    graph.Apply(GraphOp::kSubtract, {a, b});
    change(graph);
    return KeyOf(graph, {});
  };
  const std::set<PlanKey> keys{
      graph_with([](Graph&) {}),
      graph_with([](Graph& g) {
        g.tensors[0].strides = {1, 2};
      }),
      graph_with([](Graph& g) { g.tensors[2].place = GraphPlace::kMemory; }),
      graph_with([](Graph& g) { g.tensors[2].place = GraphPlace::kByValue; }),
      graph_with([](Graph& g) {
        g.nodes[0].inputs = {1, 0};
      }),
      graph_with([](Graph& g) { g.nodes[0].inputs = {0}; }),
      graph_with([](Graph& g) { g.nodes[0].op = GraphOp::kAdd; }),
      graph_with([](Graph& g) { g.nodes[0].axis = 1; }),
      graph_with([](Graph& g) { g.nodes[0].output = 1; }),
      graph_with([](Graph& g) { g.AddScalar(2); })};
  EXPECT_EQ(keys.size(), 10u);
}

TEST(Alignment, IsTheLargestPowerOfTwoUpToSixteen) {
  const auto at = [](uintptr_t address) {
    return AlignmentOf(reinterpret_cast<const void*>(address));
  };
  EXPECT_EQ(at(64), 16);
  EXPECT_EQ(at(16), 16);
  EXPECT_EQ(at(24), 8);
  EXPECT_EQ(at(20), 4);
  EXPECT_EQ(at(34), 2);
  EXPECT_EQ(at(1), 1);
}

}  // namespace
}  // namespace torus::cuda
