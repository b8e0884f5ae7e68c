// Attention on a GPU in 16 bits, by the graphs that cuDNN is given and without them, held against
// the CPU in f64. Emulated, an evaluation of the graphs stands in for cuDNN; on a real GPU it is
// cuDNN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/attention/kernels.h"
#include "runtime/on_device.h"
#include "tests/ops/cuda/cudnn/evaluate_graph.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/tolerance.h"
#include "tests/testing/twins.h"

namespace torus::ops {
namespace {

using testing::kFirstGpu;

struct AttentionCase {
  Shape query, key, value;
  bool causal = false;
  bool grouped = false;
  bool mask = false;
};

const std::vector<AttentionCase>& GraphCases() {
  static const std::vector<AttentionCase> cases{
      {{2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 16}},
      {{2, 2, 6, 8}, {2, 2, 4, 8}, {2, 2, 4, 8}, true},
      {{1, 4, 5, 16}, {1, 2, 6, 16}, {1, 2, 6, 8}, true, true},
      {{3, 4, 8}, {3, 5, 8}, {3, 5, 8}},
      {{4, 8}, {3, 8}, {3, 8}, true}};
  return cases;
}

// What no graph is made for.
const std::vector<AttentionCase>& OwnCases() {
  static const std::vector<AttentionCase> cases{
      {{2, 3, 5, 6}, {2, 3, 7, 6}, {2, 3, 7, 8}},
      {{2, 2, 6, 8}, {2, 2, 4, 8}, {2, 2, 4, 8}, false, false, true},
      {{2, 2, 1, 8}, {2, 2, 4, 8}, {2, 2, 4, 8}},
      {{1, 2, 2, 3, 8}, {1, 2, 2, 4, 8}, {1, 2, 2, 4, 8}}};
  return cases;
}

struct Operands {
  Tensor query, key, value, mask, dout;
};

struct Results {
  AttentionOutputs out;
  AttentionGradients gradients;
};

Results RunDoor(const AttentionProblem& problem, const Operands& o, DType sums) {
  const AttentionShape& shape = problem.shape;
  const Device device = o.query.device();
  const DType dtype = o.query.dtype();
  const Shape rows{Numel(shape.batch), shape.rows};
  Results r{
      {Tensor(shape.Out(), dtype, device), Tensor(rows, sums, device), Tensor(rows, sums, device)},
      {Tensor(shape.Query(), dtype, device), Tensor(shape.Key(), dtype, device),
       Tensor(shape.Value(), dtype, device)}};
  const AttentionInputs in{o.query, o.key, o.value, o.mask};
  kernels::Attention(problem, in, r.out);
  kernels::AttentionBackward(problem, in, r.out, o.dout, r.gradients);
  return r;
}

double LargestOf(const Tensor& t) {
  double largest = 0;
  for (const double value : ToVector<double>(t)) largest = std::max(largest, std::abs(value));
  return largest;
}

void ExpectNear(const Tensor& got, const Tensor& want, DType dtype, int64_t terms,
                const char* what) {
  const Tensor g = got.To(Device{}).To(DType::kF64).Contiguous();
  const double tolerance = testing::Tolerance(dtype, terms, LargestOf(want));
  ASSERT_EQ(g.shape(), want.shape());
  for (int64_t i = 0; i < want.numel(); ++i)
    ASSERT_NEAR(g.data<double>()[i], want.data<double>()[i], tolerance) << what << " " << i;
}

Tensor MaskFor(const AttentionShape& shape) {
  Tensor mask(shape.Scores(), DType::kBool);
  bool* const sees = mask.mutable_data<bool>();
  for (int64_t i = 0; i < mask.numel(); ++i) sees[i] = i % 3 != 1;
  return mask;
}

// Weights and their gradients are rounded to `dtype` on the way, so all errors are of its size.
void ExpectAgrees(const AttentionCase& c, DType dtype) {
  SCOPED_TRACE(ToString(c.query) + " " + ToString(c.key) + " " + std::string(Name(dtype)));
  const AttentionShape shape = AttentionShapeOf(c.query, c.key, c.value, c.grouped);
  const AttentionProblem problem{shape, 0.3, c.causal, {}};
  testing::OddShapes shapes(11);
  const auto exact = [&](const Shape& s) { return shapes.Normal(s).To(dtype).To(DType::kF64); };
  Operands o{exact(c.query), exact(c.key), exact(c.value), {}, exact(shape.Out())};
  if (c.mask) o.mask = MaskFor(shape);
  const Results want = RunDoor(problem, o, DType::kF64);
  const auto low = [&](const Tensor& t) { return t.To(dtype).To(kFirstGpu); };
  const Operands there{low(o.query), low(o.key), low(o.value),
                       c.mask ? o.mask.To(kFirstGpu) : Tensor(), low(o.dout)};
  const Results got = RunDoor(problem, there, DType::kF32);
  const int64_t terms = std::max({shape.rows * shape.group, shape.keys, shape.width});
  ExpectNear(got.out.out, want.out.out, dtype, terms, "out");
  ExpectNear(got.gradients.query, want.gradients.query, dtype, terms, "dquery");
  ExpectNear(got.gradients.key, want.gradients.key, dtype, terms, "dkey");
  ExpectNear(got.gradients.value, want.gradients.value, dtype, terms, "dvalue");
}

class GpuAttention : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
};

TEST_F(GpuAttention, GraphsAgreeWithTheCpu) {
  const testing::CountingStandIn stand_in;
  int runs = 0;
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const AttentionCase& c : GraphCases()) {
      ExpectAgrees(c, dtype);
      ++runs;
    }
  }
  EXPECT_EQ(stand_in.graphs(), kEmulatedGpu ? 2 * runs : 0);
}

TEST_F(GpuAttention, OwnKernelsAgreeWithTheCpu) {
  if (!kEmulatedGpu) GTEST_SKIP() << "cuDNN takes these on a real GPU";
  for (const AttentionCase& c : GraphCases()) ExpectAgrees(c, DType::kBF16);
}

TEST_F(GpuAttention, OwnKernelsTakeWhatIsNotForGraphs) {
  const testing::CountingStandIn stand_in;
  for (const DType dtype : {DType::kBF16, DType::kF16})
    for (const AttentionCase& c : OwnCases()) ExpectAgrees(c, dtype);
  EXPECT_EQ(stand_in.graphs(), 0);
}

// The two forwards leave the same of each row, so either backward follows either.
TEST_F(GpuAttention, ABackwardOfOursFollowsAForwardByGraph) {
  if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu";
  const testing::CountingStandIn stand_in(
      [](const cuda::Graph& graph) { return graph.nodes.back().output == 3; });  // forwards alone
  for (const AttentionCase& c : GraphCases()) ExpectAgrees(c, DType::kBF16);
  EXPECT_EQ(stand_in.graphs(), std::ssize(GraphCases()));
}

TEST_F(GpuAttention, AGradientByGraphFollowsAForwardOfOurs) {
  if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu";
  const testing::CountingStandIn stand_in(
      [](const cuda::Graph& graph) { return graph.nodes.back().output != 3; });
  for (const AttentionCase& c : GraphCases()) ExpectAgrees(c, DType::kBF16);
  EXPECT_EQ(stand_in.graphs(), std::ssize(GraphCases()));
}

// As for a batch whose scores do not fit into cuDNN's workspace.
TEST_F(GpuAttention, AGradientWithoutAPlanForTheWholeBatchRunsInParts) {
  if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu";
  const testing::CountingStandIn stand_in([](const cuda::Graph& graph) {
    return graph.nodes.back().output != 3 && graph.tensors[0].dims[0] == 1;
  });
  ExpectAgrees({{3, 4, 5, 16}, {3, 2, 6, 16}, {3, 2, 6, 8}, true, true}, DType::kBF16);
  EXPECT_EQ(stand_in.graphs(), 3);
}

}  // namespace
}  // namespace torus::ops
