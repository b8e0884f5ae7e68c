#include "ops/activation/activation.h"

#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "ops/activation/swiglu.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/math.h"
#include "tests/ops/op_test.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

// Normal values lie away from every kink by more than the check's step.
GRADIENT_CASE(relu, Views) { Check(Of(Relu), {TransposedLeaf({3, 4})}); }
GRADIENT_CASE(relu, Empty) { Check(Of(Relu), {RandomLeaf({2, 0})}); }
GRADIENT_CASE(relu, Scalar) { Check(Of(Relu), {RandomLeaf({})}); }
GRADIENT_CASE(relu6, BothEnds) { Check(Of(Relu6), {UniformLeaf({30}, -3, 9)}); }
GRADIENT_CASE(hardtanh, BothEnds) {
  Check(Of([](const Variable& x) { return Hardtanh(x, -0.5, 0.25); }), {TransposedLeaf({4, 5})});
}
GRADIENT_CASE(leaky_relu, Slope) {
  Check(Of([](const Variable& x) { return LeakyRelu(x, 0.3); }), {TransposedLeaf({4, 5})});
}
GRADIENT_CASE(sigmoid, Wide) { Check(Of(Sigmoid), {UniformLeaf({20}, -8, 8)}); }
GRADIENT_CASE(tanh, Wide) { Check(Of(Tanh), {UniformLeaf({20}, -5, 5)}); }
GRADIENT_CASE(silu, Wide) { Check(Of(Silu), {UniformLeaf({20}, -8, 8)}); }
GRADIENT_CASE(gelu, Exact) {
  Check(Of([](const Variable& x) { return Gelu(x); }), {UniformLeaf({20}, -4, 4)});
}
GRADIENT_CASE(gelu, TanhApproximation) {
  Check(Of([](const Variable& x) { return Gelu(x, "tanh"); }), {UniformLeaf({20}, -4, 4)});
}
GRADIENT_CASE(softplus, Default) {
  Check(Of([](const Variable& x) { return Softplus(x); }), {UniformLeaf({20}, -5, 30)});
}
GRADIENT_CASE(softplus, NegativeBeta) {
  Check(Of([](const Variable& x) { return Softplus(x, -2, 1); }), {UniformLeaf({20}, -5, 5)});
}
GRADIENT_CASE(elu, Alpha) {
  Check(Of([](const Variable& x) { return Elu(x, 1.5); }), {TransposedLeaf({4, 5})});
}
GRADIENT_CASE(selu, Views) { Check(Of(Selu), {TransposedLeaf({4, 5})}); }
GRADIENT_CASE(celu, Alpha) {
  Check(Of([](const Variable& x) { return Celu(x, 0.4); }), {TransposedLeaf({4, 5})});
}
GRADIENT_CASE(mish, Wide) { Check(Of(Mish), {UniformLeaf({20}, -8, 8)}); }
GRADIENT_CASE(hardsigmoid, BothEnds) { Check(Of(Hardsigmoid), {UniformLeaf({20}, -5, 5)}); }
GRADIENT_CASE(hardswish, BothEnds) { Check(Of(Hardswish), {UniformLeaf({20}, -5, 5)}); }
GRADIENT_CASE(softsign, Empty) { Check(Of(Softsign), {RandomLeaf({0, 3})}); }
GRADIENT_CASE(softsign, Views) { Check(Of(Softsign), {TransposedLeaf({2, 3})}); }
GRADIENT_CASE(threshold, Views) {
  Check(Of([](const Variable& x) { return Threshold(x, 0.25, -3); }), {TransposedLeaf({4, 5})});
}
GRADIENT_CASE(prelu, EachChannel) {
  Check([](const Variables& in) { return Variables{Prelu(in[0], in[1])}; },
        {TransposedLeaf({2, 4, 3}), RandomLeaf({3}, 1)});
}
GRADIENT_CASE(prelu, OneWeight) {
  Check([](const Variables& in) { return Variables{Prelu(in[0], in[1])}; },
        {RandomLeaf({0, 3}), RandomLeaf({1}, 1)});
}
GRADIENT_CASE(prelu, Scalars) {
  Check([](const Variables& in) { return Variables{Prelu(in[0], in[1])}; },
        {RandomLeaf({}), RandomLeaf({}, 1)});
}
GRADIENT_CASE(mul, Glu) {
  Check(
      [](const Variables& in) {
        return Variables{Glu(in[0], 0), Glu(in[0], -1)};
      },
      {TransposedLeaf({2, 3, 4})});
}
Variables SwigluOf(const Variables& in) { return {Swiglu(in[0], in.back())}; }

GRADIENT_CASE(swiglu, Views) {
  Check(SwigluOf, {TransposedLeaf({4, 5}, 1), RandomLeaf({4, 5}, 2)});
}
GRADIENT_CASE(swiglu, Wide) { Check(SwigluOf, {UniformLeaf({20}, -8, 8), RandomLeaf({20}, 2)}); }
GRADIENT_CASE(swiglu, OneInputTwice) { Check(SwigluOf, {RandomLeaf({7})}); }
GRADIENT_CASE(swiglu, Empty) { Check(SwigluOf, {RandomLeaf({2, 0}), RandomLeaf({2, 0}, 1)}); }
GRADIENT_CASE(swiglu, Scalar) { Check(SwigluOf, {RandomLeaf({}), RandomLeaf({}, 1)}); }
GRADIENT_CASE(erf, View) { Check(Of(Erf), {TransposedLeaf({3, 4})}); }
GRADIENT_CASE(exp, Views) { Check(Of(Exp), {TransposedLeaf({2, 3})}); }
GRADIENT_CASE(log, Positive) { Check(Of(Log), {UniformLeaf({2, 3}, 0.2, 5)}); }
GRADIENT_CASE(sqrt, Positive) { Check(Of(Sqrt), {UniformLeaf({2, 3}, 0.2, 5)}); }
GRADIENT_CASE(rsqrt, Positive) { Check(Of(Rsqrt), {UniformLeaf({2, 3}, 0.2, 5)}); }
GRADIENT_CASE(abs, Views) { Check(Of(Abs), {TransposedLeaf({2, 3})}); }
GRADIENT_CASE(expm1, Views) { Check(Of(Expm1), {TransposedLeaf({2, 3})}); }
GRADIENT_CASE(log1p, Wide) { Check(Of(Log1p), {UniformLeaf({2, 3}, -0.8, 5)}); }
GRADIENT_CASE(reciprocal, Negative) { Check(Of(Reciprocal), {UniformLeaf({2, 3}, -2, -0.5)}); }
GRADIENT_CASE(sin, Wide) { Check(Of(Sin), {UniformLeaf({20}, -8, 8)}); }
GRADIENT_CASE(cos, Scalar) { Check(Of(Cos), {RandomLeaf({})}); }
GRADIENT_CASE(tan, Views) { Check(Of(Tan), {UniformLeaf({20}, -1.4, 1.4)}); }
GRADIENT_CASE(square, Views) { Check(Of(Square), {TransposedLeaf({2, 3})}); }
// Normal values lie away from every step by more than the check's own.
GRADIENT_CASE(sign, Views) { Check(Of(Sign), {TransposedLeaf({2, 3})}); }
GRADIENT_CASE(floor, Views) { Check(Of(Floor), {TransposedLeaf({2, 3})}); }
GRADIENT_CASE(ceil, Empty) { Check(Of(Ceil), {RandomLeaf({2, 0})}); }
GRADIENT_CASE(ceil, Views) { Check(Of(Ceil), {TransposedLeaf({2, 3})}); }
GRADIENT_CASE(round, Decimals) {
  Check(
      [](const Variables& in) {
        return Variables{Round(in[0]), Round(in[0], 2)};
      },
      {TransposedLeaf({2, 3})});
}

std::vector<float> Gradient(const testing::CheckedFunction& f, const std::vector<float>& values) {
  const Variable x(FromVector(values, {static_cast<int64_t>(values.size())}), true);
  Backward(f({x}), {Full(x.shape(), 1)});
  return ToVector<float>(x.grad());
}

// PyTorch's choices where there is no derivative.
TEST(Activation, GradientsAtKinks) {
  EXPECT_EQ(Gradient(Of(Relu), {0, -0.0f, 1}), (std::vector<float>{0, 0, 1}));
  EXPECT_EQ(Gradient(Of(Relu6), {0, 6, 3}), (std::vector<float>{0, 0, 1}));
  EXPECT_EQ(Gradient(Of(Relu6), {NAN, 3}), (std::vector<float>{0, 1}));
  EXPECT_EQ(Gradient(Of(Abs), {0, -2, 2}), (std::vector<float>{0, -1, 1}));
  const auto closed = [](const Variable& x) { return Hardtanh(x, 0, 0); };
  EXPECT_EQ(Gradient(Of(closed), {-1, 0, 1}), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(Gradient(Of(Hardsigmoid), {-3, 3, NAN}), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(Gradient(Of(Hardswish), {-3, 3, NAN}), (std::vector<float>{0, 1, 1}));
  const auto elu = [](const Variable& x) { return Elu(x, 2); };
  EXPECT_EQ(Gradient(Of(elu), {0, NAN}), (std::vector<float>{2, 1}));
  const auto above = [](const Variable& x) { return Threshold(x, 1, 5); };
  EXPECT_EQ(Gradient(Of(above), {1, 2, NAN}), (std::vector<float>{0, 1, 1}));
}

// The formulas' own values, which PyTorch's kernels for CPUs and GPUs give too: 0 times infinity.
TEST(Activation, GeluAtTheInfinities) {
  for (const DType dtype : {DType::kF32, DType::kF64})
    for (const char* approximate : {"none", "tanh"}) {
      SCOPED_TRACE(approximate);
      std::vector<float> values(37, 1);  // whole vectors, and a rest
      values[0] = values[36] = INFINITY;
      values[1] = values[35] = -INFINITY;
      const Variable x(FromVector(values, {37}).To(dtype), true);
      const Variable y = Gelu(x, approximate);
      Backward({y}, {Full({37}, 1, dtype)});
      const std::vector<float> out = ToVector<float>(y.data().To(DType::kF32)),
                               grad = ToVector<float>(x.grad().To(DType::kF32));
      for (const size_t i : {0, 36}) {
        EXPECT_EQ(out[i], INFINITY);
        EXPECT_TRUE(std::isnan(out[i == 0 ? 1 : 35]));
        EXPECT_TRUE(std::isnan(grad[i]));
        EXPECT_TRUE(std::isnan(grad[i == 0 ? 1 : 35]));
      }
      EXPECT_NEAR(grad[2], 1.083, 1e-3);
    }
}

TEST(Activation, NotANumberStaysOne) {
  const Variable x(FromVector<float>({NAN}, {1}));
  EXPECT_TRUE(std::isnan(Relu(x).data().Item()));
  EXPECT_TRUE(std::isnan(Relu6(x).data().Item()));
  EXPECT_TRUE(std::isnan(Hardtanh(x).data().Item()));
  EXPECT_TRUE(std::isnan(Hardsigmoid(x).data().Item()));
  EXPECT_TRUE(std::isnan(Threshold(x, 0, 1).data().Item()));
  EXPECT_EQ(Sign(x).data().Item(), 0);
}

TEST(Activation, KnownValues) {
  const auto at = [](double x) { return Variable(Full({}, x, DType::kF64)); };
  EXPECT_NEAR(Gelu(at(1)).data().Item(), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(Gelu(at(1), "tanh").data().Item(), 0.8411919906082768, 1e-15);
  EXPECT_NEAR(Silu(at(1)).data().Item(), 0.7310585786300049, 1e-15);
  EXPECT_NEAR(Softplus(at(0)).data().Item(), std::log(2.0), 1e-15);
  EXPECT_EQ(Softplus(at(21)).data().Item(), 21);
  EXPECT_EQ(Sigmoid(at(-800)).data().Item(), 0);
  EXPECT_EQ(LeakyRelu(at(-2)).data().Item(), -0.02);
}

// As torch.round and torch.sign.
TEST(StepFunctions, Values) {
  const Variable x(FromVector<float>({-2.5, -1.5, -0.5, 0.5, 1.5, 2.4}, {6}), true);
  EXPECT_EQ(ToVector<float>(Round(x).data()), (std::vector<float>{-2, -2, 0, 0, 2, 2}));
  EXPECT_EQ(ToVector<float>(Floor(x).data()), (std::vector<float>{-3, -2, -1, 0, 1, 2}));
  EXPECT_EQ(ToVector<float>(Ceil(x).data()), (std::vector<float>{-2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(ToVector<float>(Sign(x).data()), (std::vector<float>{-1, -1, -1, 1, 1, 1}));
  const Variable y(FromVector<float>({1.125, 0.375, -0.875, 25, 15}, {5}));
  EXPECT_EQ(ToVector<float>(Round(y, 2).data()),
            (std::vector<float>{1.12f, 0.38f, -0.88f, 25, 15}));
  EXPECT_EQ(ToVector<float>(Round(y, -1).data()), (std::vector<float>{0, 0, 0, 20, 20}));
  Backward({Round(x)}, {Full({6}, 1)});
  EXPECT_FALSE(x.grad().defined());  // zero
}

// A factor that was not used has no part in the gradient.
TEST(Prelu, InfinitiesReachNoOtherGradient) {
  const Variable x(FromVector<float>({INFINITY, -1, 2}, {3}), true);
  const Variable weight(FromVector<float>({0.5}, {1}), true);
  Backward({Prelu(x, weight)}, {Full({3}, 1)});
  EXPECT_EQ(ToVector<float>(x.grad()), (std::vector<float>{1, 0.5, 1}));
  EXPECT_EQ(weight.grad().Item(), -1);
}

// It is what it is composed of, also where it overflows.
TEST(Activation, SwigluAtTheInfinities) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Variable gate(FromVector<float>({INFINITY, -INFINITY, NAN, 200, -200, 1}, {6}).To(dtype)),
        up(FromVector<float>({1, 1, 1, 2, 2, NAN}, {6}).To(dtype));
    const std::vector<float> got = ToVector<float>(Swiglu(gate, up).data().To(DType::kF32)),
                             wanted = ToVector<float>(Mul(Silu(gate), up).data().To(DType::kF32));
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(wanted[i]))
        EXPECT_TRUE(std::isnan(got[i])) << i;
      else
        EXPECT_EQ(got[i], wanted[i]) << i;
    }
  }
}

// 19 elements are packs of 16 bytes of every type, and some more; a view that starts at the second
// has no packs. The CPU computes in f64 on the same values. The only sum is silu's slope, of two
// terms of about 1.
TEST(Activation, SwiglusGradientsOnAGpuAreThoseOfTheCpu) {
  if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  for (const DType dtype : {DType::kBF16, DType::kF16, DType::kF32, DType::kF64})
    for (const int64_t first : {0, 1}) {
      const auto gradients = [&](DType computed, Device device) {
        const auto leaf = [&](uint64_t seed) {
          const Tensor values = RandomLeaf({20}, seed).data().To(dtype).To(computed).To(device);
          return Variable(values.Narrow(0, first, 19), true);
        };
        const Variable gate = leaf(1), up = leaf(2);
        Backward({Swiglu(gate, up)}, {leaf(3).data()});
        std::vector<double> all;
        for (const Variable& v : {gate, up})
          for (double d : ToVector<double>(v.grad().To(Device{}).To(DType::kF64))) all.push_back(d);
        return all;
      };
      const std::vector<double> want = gradients(DType::kF64, {}),
                                got = gradients(dtype, testing::kFirstGpu);
      double largest = 1;
      for (const double d : want) largest = std::max(largest, std::abs(d));
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(got[i], want[i], testing::ToleranceRoundedOnce(dtype, 2, largest, want[i]))
            << Name(dtype) << " " << i;
    }
}

TEST(Activation, RefusesWhatDoesNotFit) {
  const Variable whole(Zeros({2}, DType::kI32)), x(Zeros({2}));
  EXPECT_THROW(Relu(whole), BadInput);
  EXPECT_THROW(Hardtanh(x, 1, -1), BadInput);
  EXPECT_THROW(Gelu(x, "erf"), BadInput);
  EXPECT_THROW(Softplus(x, 0), BadInput);
  EXPECT_THROW(Celu(x, 0), BadInput);
  EXPECT_THROW(Glu(Variable(Zeros({2, 3}))), BadInput);
  EXPECT_THROW(Glu(Variable(Zeros({}))), BadInput);
  EXPECT_THROW(Prelu(x, Variable(Zeros({3}))), BadInput);
  EXPECT_THROW(Prelu(Variable(Zeros({})), Variable(Zeros({1}))), BadInput);
  EXPECT_THROW(Sin(whole), BadInput);
  EXPECT_THROW(Swiglu(x, Variable(Zeros({1}))), BadInput);
  EXPECT_THROW(Swiglu(x, Variable(Zeros({2}, DType::kF64))), BadInput);
  EXPECT_THROW(Swiglu(whole, whole), BadInput);
}

}  // namespace
}  // namespace torus::ops
