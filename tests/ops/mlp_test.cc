#include "ops/mlp/mlp.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "autograd/backward.h"
#include "autograd/op_observer.h"
#include "autograd/precision.h"
#include "autograd/recompute.h"
#include "ops/activation/activation.h"
#include "ops/matmul/linear.h"
#include "tests/ops/op_test.h"
#include "tests/testing/on_gpu.h"

namespace torus::ops {
namespace {

using testing::kFirstGpu;

GeluMlpWeights WeightsOf(const Variables& in) {
  return in.size() == 3 ? GeluMlpWeights{in[1], {}, in[2], {}}
                        : GeluMlpWeights{in[1], in[2], in[3], in[4]};
}

Variables Fused(const Variables& in) { return {FusedGeluMlp(in[0], WeightsOf(in))}; }

Variables Composed(const Variables& in) {
  const GeluMlpWeights w = WeightsOf(in);
  return {
      LinearInOut(Gelu(LinearInOut(in[0], w.wide, w.wide_bias), "tanh"), w.narrow, w.narrow_bias)};
}

Variables Leaves(const Shape& input, int64_t inner, int64_t out) {
  return {RandomLeaf(input), RandomLeaf({input[input.rank() - 1], inner}, 1),
          RandomLeaf({inner}, 2), RandomLeaf({inner, out}, 3), RandomLeaf({out}, 4)};
}

GRADIENT_CASE(gelu_mlp, Biases) { Check(Fused, Leaves({2, 3}, 8, 2)); }
GRADIENT_CASE(gelu_mlp, Batches) { Check(Fused, Leaves({2, 2, 3}, 5, 4)); }
GRADIENT_CASE(gelu_mlp, WithoutBiases) {
  Check(Fused, {TransposedLeaf({3, 4}), TransposedLeaf({4, 5}, 1), TransposedLeaf({5, 2}, 2)});
}
GRADIENT_CASE(gelu_mlp, Vector) { Check(Fused, Leaves({3}, 4, 1)); }
GRADIENT_CASE(gelu_mlp, EmptyBatch) { Check(Fused, Leaves({0, 3}, 4, 2)); }
GRADIENT_CASE(gelu_mlp, NothingInside) { Check(Fused, Leaves({2, 0}, 4, 2)); }

// Outputs and gradients there, of random leaves in f32.
struct Outcome {
  std::vector<Tensor> tensors;
  int64_t flops = 0;
};

struct CountsFlops : OpObserver {
  void OnOp(std::string_view, const Variables&, const Variables&) override {}
  void OnProduct(int64_t more) override { flops += more; }
  int64_t flops = 0;
};

enum class Way { kAtOnce, kInHalves, kRecomputed };

Variables Called(const testing::CheckedFunction& op, const Variables& leaves, Way way) {
  if (way != Way::kRecomputed) return op(leaves);
  return Recompute(op, leaves, {});
}

Outcome OutcomeOf(const testing::CheckedFunction& op, Device device, Way way = Way::kAtOnce) {
  Variables leaves;
  for (const Variable& leaf : Leaves({7, 16}, 40, 24))
    leaves.emplace_back(leaf.data().To(DType::kF32).To(device), true);
  CountsFlops count;
  const Variable y = Called(op, leaves, way)[0];
  const Tensor dy = RandomLeaf(y.shape(), 9).data().To(y.dtype()).To(device);
  const bool halves = way == Way::kInHalves;
  BackwardOptions options{.defer_leaves = halves};
  if (halves) options.wanted = {leaves[0]};
  BackwardResult result = Backward({y}, {dy}, options);
  if (halves) result.deferred.Run();
  Outcome outcome{{y.data()}, count.flops};
  for (size_t i = 0; i < leaves.size(); ++i)
    outcome.tensors.push_back(halves && i == 0 ? result.wanted[0] : leaves[i].grad());
  return outcome;
}

void ExpectSameBits(const Outcome& got, const Outcome& want) {
  ASSERT_EQ(got.tensors.size(), want.tensors.size());
  for (size_t i = 0; i < got.tensors.size(); ++i) {
    const Tensor g = got.tensors[i].To(Device{}), w = want.tensors[i].To(Device{});
    ASSERT_EQ(g.shape(), w.shape()) << i;
    EXPECT_EQ(std::memcmp(g.raw(), w.raw(), g.bytes()), 0) << i;
  }
}

std::vector<Device> Devices() {
  std::vector<Device> devices{Device{}};
  if (testing::HasGpu()) devices.push_back(kFirstGpu);
  return devices;
}

// Sums of 40 products and fewer have one order, whoever asks for them.
TEST(GeluMlp, HasTheBitsOfTheThreeOpsInF32) {
  ExpectSameBits(OutcomeOf(Fused, Device{}), OutcomeOf(Composed, Device{}));
}

TEST(GeluMlp, HasTheSameBitsInHalvesAndRecomputed) {
  for (const Device device : Devices())
    for (const DType low : {DType::kF32, DType::kBF16}) {
      if (low == DType::kBF16 && device == Device{}) continue;
      SCOPED_TRACE(fmt::format("{} {}", device, Name(low)));
      const WithPrecision with(
          {low, low == DType::kF32 ? MatmulMode::kEmulated : MatmulMode::kNative});
      const Outcome once = OutcomeOf(Fused, device),
                    halves = OutcomeOf(Fused, device, Way::kInHalves);
      ExpectSameBits(halves, once);
      EXPECT_EQ(halves.flops, once.flops);  // the inner gradient is found once
      ExpectSameBits(OutcomeOf(Fused, device, Way::kRecomputed), once);
    }
}

TEST(GeluMlp, IsOneOpOnAGpuAlone) {
  struct Names : OpObserver {
    void OnOp(std::string_view op, const Variables&, const Variables&) override { all += op; }
    void OnProduct(int64_t) override {}
    std::string all;
  };
  for (const Device device : Devices()) {
    Variables in;
    for (const Variable& leaf : Leaves({2, 3}, 4, 2)) in.emplace_back(leaf.data().To(device));
    Names names;
    GeluMlp(in[0], WeightsOf(in));
    EXPECT_EQ(names.all, device == Device{} ? "lineargelulinear" : "gelu_mlp");
  }
}

// In low types on a GPU: between the layers the three ops round Z, gelu(Z), and their gradients to
// the low type, each by at most half an ulp; so do we, less often. What both give is then summed.
TEST(GeluMlp, IsNearTheThreeOpsInLowTypes) {
  if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  for (const DType low : {DType::kBF16, DType::kF16}) {
    const WithPrecision with({low, MatmulMode::kNative});
    const Outcome got = OutcomeOf(Fused, kFirstGpu), want = OutcomeOf(Composed, kFirstGpu);
    const double ulp = low == DType::kBF16 ? 0x1p-8 : 0x1p-11;
    for (size_t i = 0; i < got.tensors.size(); ++i) {
      EXPECT_EQ(got.tensors[i].dtype(), want.tensors[i].dtype());
      const auto g = ToVector<double>(got.tensors[i].To(Device{}).To(DType::kF64));
      const auto w = ToVector<double>(want.tensors[i].To(Device{}).To(DType::kF64));
      double largest = 0;
      for (const double value : w) largest = std::max(largest, std::abs(value));
      // Three roundings within, whose errors add up as independent ones do, and one of the result.
      for (size_t k = 0; k < g.size(); ++k) ASSERT_NEAR(g[k], w[k], 4 * ulp * largest) << i;
    }
  }
}

TEST(GeluMlp, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({2, 3})), wide(Zeros({3, 4})), narrow(Zeros({4, 2}));
  for (const auto& call : {GeluMlp, FusedGeluMlp}) {
    EXPECT_THROW(call(x, {narrow, {}, narrow, {}}, {}), BadInput);
    EXPECT_THROW(call(x, {wide, {}, wide, {}}, {}), BadInput);
    EXPECT_THROW(call(x, {wide, narrow, narrow, {}}, {}), BadInput);
    EXPECT_THROW(call(x, {wide, {}, Variable(Zeros({4, 2}, DType::kF64)), {}}, {}), BadInput);
  }
}

}  // namespace
}  // namespace torus::ops
