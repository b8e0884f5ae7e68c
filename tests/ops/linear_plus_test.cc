// A linear layer, or an MLP, and its residual in one product: what the layer and a sum give.
#include "ops/matmul/linear_plus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/linear.h"
#include "ops/mlp/mlp.h"
#include "runtime/rng.h"
#include "runtime/stream.h"
#include "tests/testing/same_bits.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};

using Op = std::function<Variable(const std::vector<Variable>&)>;

Tensor Random(const Shape& shape, uint64_t seed) {
  Tensor values = Empty(shape);
  FillNormal(values, 0, 1, RandomStream({.seed = seed}));
  return values;
}

// Of inputs that the op makes others of, so that gradients so far are added to in a product too.
struct Outcome {
  Tensor y;
  std::vector<Tensor> gradients;
};

Outcome OutcomeOf(const Op& op, const std::vector<Tensor>& values, Device device,
                  Precision precision) {
  std::vector<Variable> inputs;
  for (const Tensor& t : values) inputs.emplace_back(t.To(device), true);
  const Variable y = [&] {
    const WithPrecision with(precision);
    return op(inputs);
  }();
  const Tensor seed = Random(y.shape(), 99).To(DType::kBF16);  // exact in all types
  Backward({y}, {seed.To(y.dtype()).To(device)});
  Outcome outcome{y.data().To(Device{}), {}};
  for (const Variable& input : inputs) outcome.gradients.push_back(input.grad().To(Device{}));
  return outcome;
}

void ExpectNear(const Tensor& got, const Tensor& want, DType dtype, int64_t terms) {
  ASSERT_EQ(got.shape(), want.shape());
  const auto a = ToVector<double>(got.To(DType::kF64)), b = ToVector<double>(want.To(DType::kF64));
  double largest = 0;
  for (const double value : b) largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], testing::Tolerance(dtype, terms, largest)) << "element " << i;
}

// x, weight, bias, residual.
std::vector<Tensor> LinearInputs(DType residual) {
  return {Random({2, 5, 24}, 1), Random({16, 24}, 2), Random({16}, 3),
          Random({2, 5, 16}, 4).To(residual)};
}

Variable Plus(const std::vector<Variable>& v) {
  return LinearPlus(v[0], v[1], v[2], v[3], WeightLayout::kOutIn);
}
Variable LinearThenAdd(const std::vector<Variable>& v) {
  return Add(Linear(v[0], v[1], v[2]), v[3]);
}

// x, wide, its bias, narrow, its bias. The residual is x.
std::vector<Tensor> MlpInputs() {
  return {Random({2, 5, 16}, 1), Random({16, 32}, 2), Random({32}, 3), Random({32, 16}, 4),
          Random({16}, 5)};
}

Variable MlpPlus(const std::vector<Variable>& v) {
  return GeluMlp(v[0], {v[1], v[2], v[3], v[4]}, v[0]);
}
Variable MlpThenAdd(const std::vector<Variable>& v) {
  return Add(GeluMlp(v[0], {v[1], v[2], v[3], v[4]}), v[0]);
}

void ExpectSame(const Outcome& got, const Outcome& want) {
  testing::ExpectSameBits(got.y, want.y);
  for (size_t i = 0; i < got.gradients.size(); ++i)
    testing::ExpectSameBits(got.gradients[i], want.gradients[i]);
}

TEST(LinearPlus, OnACpuHasTheBitsOfTwoOps) {
  for (const DType low : {DType::kF32, DType::kBF16}) {
    ExpectSame(OutcomeOf(Plus, LinearInputs(DType::kF32), {}, low),
               OutcomeOf(LinearThenAdd, LinearInputs(DType::kF32), {}, low));
    ExpectSame(OutcomeOf(MlpPlus, MlpInputs(), {}, low),
               OutcomeOf(MlpThenAdd, MlpInputs(), {}, low));
  }
}

class LinearPlusOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

// Against f32 on operands that 16 bits hold exactly.
TEST_F(LinearPlusOnGpu, RoundsOnceIn16Bits) {
  for (const DType low : {DType::kBF16, DType::kF16})
    for (const DType residual : {DType::kF32, low}) {
      std::vector<Tensor> exact = LinearInputs(residual);
      for (Tensor& t : exact) t = t.To(low).To(DType::kF32);
      std::vector<Tensor> taken = exact;
      taken[3] = exact[3].To(residual);
      const Outcome got = OutcomeOf(Plus, taken, kGpu, {low, MatmulMode::kNative});
      const Outcome want = OutcomeOf(LinearThenAdd, exact, {}, {});
      EXPECT_EQ(got.y.dtype(), residual);
      ExpectNear(got.y, want.y, residual, 24);
      for (size_t i = 0; i < 4; ++i) {
        SCOPED_TRACE(fmt::format("gradient {}", i));
        ExpectNear(got.gradients[i], want.gradients[i], i == 1 || i == 2 ? DType::kF32 : low, 24);
      }
    }
}

TEST_F(LinearPlusOnGpu, OfAnMlpIsThatOfTwoOps) {
  for (const DType low : {DType::kBF16, DType::kF16}) {
    std::vector<Tensor> exact = MlpInputs();
    for (Tensor& t : exact) t = t.To(low).To(DType::kF32);
    const Outcome got = OutcomeOf(MlpPlus, exact, kGpu, {low, MatmulMode::kNative});
    const Outcome want = OutcomeOf(MlpThenAdd, exact, {}, {});
    EXPECT_EQ(got.y.dtype(), DType::kF32);
    ExpectNear(got.y, want.y, low, 32 + 16);  // inner values are low
    for (size_t i = 0; i < exact.size(); ++i) {
      SCOPED_TRACE(fmt::format("gradient {}", i));
      ExpectNear(got.gradients[i], want.gradients[i], low, 32 + 16);
    }
  }
}

// A residual that is broadcast, or of another type than a product gives.
TEST_F(LinearPlusOnGpu, IsTwoOpsElsewhere) {
  for (const Shape& shape : {Shape{16}, Shape{2, 5, 16}}) {
    std::vector<Tensor> inputs = LinearInputs(DType::kF32);
    inputs[3] = Random(shape, 7);
    const bool fits = shape.rank() == 3;
    const Precision precision = fits ? Precision() : Precision(DType::kBF16, MatmulMode::kNative);
    ExpectSame(OutcomeOf(Plus, inputs, kGpu, precision),
               OutcomeOf(LinearThenAdd, inputs, kGpu, precision));
  }
}

}  // namespace
}  // namespace torus::ops
