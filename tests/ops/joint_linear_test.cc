// Linear layers of one input as one product: what the layers give each by itself.
#include "ops/matmul/joint_linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "ops/matmul/linear.h"
#include "runtime/error.h"
#include "runtime/rng.h"
#include "runtime/stream.h"
#include "tests/testing/same_bits.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};
constexpr int64_t kIn = 24;

Tensor Random(const Shape& shape, uint64_t seed) {
  Tensor values = Empty(shape);
  FillNormal(values, 0, 1, RandomStream({.seed = seed}));
  return values;
}

// Of one input, with as many outputs as `sizes` says.
struct Layers {
  Layers(Device device, const std::vector<int64_t>& sizes)
      : x(Random({2, 5, kIn}, 1).To(device), true) {
    for (const int64_t size : sizes) {
      const auto seed = 10 * weights.size();
      weights.emplace_back(Random({size, kIn}, seed + 2).To(device), true);
      biases.emplace_back(Random({size}, seed + 3).To(device), true);
    }
  }
  std::vector<Variable> All() const {
    std::vector<Variable> all{x};
    all.insert(all.end(), weights.begin(), weights.end());
    all.insert(all.end(), biases.begin(), biases.end());
    return all;
  }
  std::vector<Variable> Separate() const {
    std::vector<Variable> outputs;
    for (size_t i = 0; i < weights.size(); ++i) outputs.push_back(Linear(x, weights[i], biases[i]));
    return outputs;
  }
  std::vector<Variable> Joint() const { return JointLinear(x, weights, biases); }

  Variable x;
  std::vector<Variable> weights, biases;
};

// Twice, so that the second adds to the gradients of the first.
void TrainOn(const Layers& layers, bool joint, std::vector<Variable>& outputs) {
  for (int turn = 0; turn < 2; ++turn) {
    outputs = joint ? layers.Joint() : layers.Separate();
    std::vector<Tensor> seeds;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& y = outputs[i].data();
      seeds.push_back(Random(y.shape(), 100 + i).To(y.device()).To(y.dtype()));
    }
    Backward(outputs, seeds);
  }
}

void ExpectNear(const Tensor& got, const Tensor& want, DType dtype, int64_t terms) {
  ASSERT_EQ(got.shape(), want.shape());
  const auto a = ToVector<float>(got.To(Device{}).To(DType::kF32)),
             b = ToVector<float>(want.To(Device{}).To(DType::kF32));
  float largest = 0;
  for (const float value : b) largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], testing::Tolerance(dtype, terms, largest)) << "element " << i;
}

TEST(JointLinear, OnACpuHasTheBitsOfTheLayers) {
  for (const DType low : {DType::kF32, DType::kBF16}) {
    const WithPrecision precision(low);
    const Layers joint({}, {8, 3, 8}), separate({}, {8, 3, 8});
    std::vector<Variable> got, want;
    TrainOn(joint, true, got);
    TrainOn(separate, false, want);
    for (size_t i = 0; i < got.size(); ++i) testing::ExpectSameBits(got[i].data(), want[i].data());
    for (size_t i = 0; i < joint.All().size(); ++i)
      testing::ExpectSameBits(joint.All()[i].grad(), separate.All()[i].grad());
  }
}

TEST(JointLinear, RefusesWhatDoesNotFit) {
  Layers layers({}, {8, 3});
  layers.biases.pop_back();
  EXPECT_THROW(layers.Joint(), BadInput);
  layers.biases.emplace_back(Random({4}, 5), true);
  EXPECT_THROW(layers.Joint(), BadInput);
}

class JointLinearOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

// Their input's gradient is rounded once, not once for each layer and sum.
TEST_F(JointLinearOnGpu, IsOneProductIn16Bits) {
  for (const DType low : {DType::kBF16, DType::kF16})
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{8, 8, 8}, {8, 3, 16}}) {
      const WithPrecision precision({low, MatmulMode::kNative});
      const Layers joint(kGpu, sizes), separate(kGpu, sizes);
      std::vector<Variable> got, want;
      TrainOn(joint, true, got);
      TrainOn(separate, false, want);
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].data().storage(), got[0].data().storage());
        ExpectNear(got[i].data(), want[i].data(), low, kIn);
      }
      for (size_t i = 0; i < joint.All().size(); ++i) {
        SCOPED_TRACE(fmt::format("gradient {}", i));
        ExpectNear(joint.All()[i].grad(), separate.All()[i].grad(), low, 2 * 10 + kIn);
      }
    }
}

// Some layers alone may be trained, and their gradients must not reach the others.
TEST_F(JointLinearOnGpu, LeavesAFrozenLayerAlone) {
  const WithPrecision precision({DType::kBF16, MatmulMode::kNative});
  Layers layers(kGpu, {8, 8});
  layers.weights[1] = Variable(layers.weights[1].data());
  std::vector<Variable> got;
  TrainOn(layers, true, got);
  EXPECT_TRUE(layers.weights[0].grad().defined());
  EXPECT_FALSE(layers.weights[1].grad().defined());
  EXPECT_TRUE(layers.biases[1].grad().defined());
}

TEST_F(JointLinearOnGpu, GivesTheGradientsThatAreWanted) {
  const WithPrecision precision({DType::kBF16, MatmulMode::kNative});
  const Layers layers(kGpu, {8, 8});
  const std::vector<Variable> outputs = layers.Joint();
  const Tensor seed = Full({2, 5, 8}, 1, DType::kBF16, kGpu);
  BackwardResult result =
      Backward(outputs, {seed, seed}, {.defer_leaves = true, .wanted = {layers.weights[1]}});
  EXPECT_TRUE(result.wanted[0].defined());
  EXPECT_FALSE(layers.weights[0].grad().defined());
  result.deferred.Run();
  EXPECT_TRUE(layers.weights[0].grad().defined());
  EXPECT_FALSE(layers.weights[1].grad().defined());
  ExpectNear(layers.weights[0].grad(), result.wanted[0], DType::kBF16, 10);
}

}  // namespace
}  // namespace torus::ops
