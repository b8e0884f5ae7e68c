// Parameters of a 16-bit type, in every way to compute with them: their gradients have their type,
// and are those of f32 parameters with the same values, rounded once.
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/convolution/convolution.h"
#include "ops/indexing/indexing.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/loss/linear_cross_entropy.h"
#include "ops/matmul/linear.h"
#include "ops/mlp/mlp.h"
#include "runtime/error.h"
#include "runtime/rng.h"
#include "runtime/vector_unit.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

struct Place {
  Device device;
  DType low;
};

// Of an input x and parameters.
struct Case {
  const char* name;
  std::function<Variable(const Variable& x, const std::vector<Variable>& parameters)> op;
  Shape x;
  std::vector<Shape> parameters;
  bool composed = false;  // of several ops, between which values are rounded
};

Case Convolution(const char* name, const Shape& x, const Shape& weight,
                 const Conv2dOptions& options) {
  return {name,
          [=](const Variable& x, const auto& p) { return Conv2d(x, p[0], p[1], options); },
          x,
          {weight, {weight[0]}}};
}

// The same device as x.
Variable Numbers(const Variable& x, const std::vector<int64_t>& values) {
  return Variable(FromVector(values, {std::ssize(values)}).To(x.data().device()));
}

std::vector<Case> Cases() {
  return {
      {"linear",
       [](const Variable& x, const auto& p) { return Linear(x, p[0], p[1]); },
       {5, 7},
       {{3, 7}, {3}}},
      {"linear_in_out",
       [](const Variable& x, const auto& p) { return LinearInOut(x, p[0], p[1]); },
       {5, 7},
       {{7, 4}, {4}}},
      {"gelu_mlp",
       [](const Variable& x, const auto& p) {
         return GeluMlp(x, {p[0], p[1], p[2], p[3]});
       },
       {5, 8},
       {{8, 24}, {24}, {24, 8}, {8}},
       true},
      {"fused_gelu_mlp",
       [](const Variable& x, const auto& p) {
         return FusedGeluMlp(x, {p[0], p[1], p[2], p[3]});
       },
       {5, 8},
       {{8, 24}, {24}, {24, 8}, {8}}},
      Convolution("pointwise", {3, 5, 5, 24}, {17, 1, 1, 24}, {}),
      Convolution("dense", {2, 9, 7, 16}, {20, 3, 3, 16}, {.padding = {1, 1}}),
      Convolution("strided", {2, 8, 8, 4}, {6, 1, 1, 4}, {.stride = {2, 2}}),
      Convolution("small image", {9, 2, 2, 16}, {20, 3, 3, 16}, {.padding = {1, 1}}),
      Convolution("depthwise", {2, 9, 7, 12}, {12, 3, 3, 1}, {.padding = {1, 1}, .groups = 12}),
      Convolution("nothing", {0, 9, 7, 16}, {20, 3, 3, 16}, {.padding = {1, 1}}),
      {"linear_cross_entropy",
       [](const Variable& x, const auto& p) {
         return LinearCrossEntropy(x, p[0], p[1], Numbers(x, {0, 8, 3, 3}));
       },
       {4, 6},
       {{9, 6}, {9}}},
      {"layer_norm",
       [](const Variable& x, const auto& p) { return LayerNorm(x, {6}, p[0], p[1]); },
       {4, 6},
       {{6}, {6}}},
      {"batch_norm",
       [](const Variable& x, const auto& p) { return BatchNormTrain(x, p[0], p[1]).y; },
       {4, 3, 3, 6},
       {{6}, {6}}},
      {"embedding",
       [](const Variable& x, const auto& p) {
         return Embedding(Numbers(x, {8, 0, 3, 3}), p[0]);
       },
       {1},
       {{9, 6}}},
      {"embedding, scaled",
       [](const Variable& x, const auto& p) {
         return Embedding(Numbers(x, {8, 0, 3, 3}), p[0], 0, 2.0, 2, true);
       },
       {1},
       {{9, 6}}},
  };
}

enum class Mode { kPlain, kEmulated, kNative };

class LowParameters : public ::testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (!OnCpu() && !testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
  bool OnCpu() const { return GetParam().device == Device{}; }
  DType low() const { return GetParam().low; }
  std::optional<Precision> PrecisionOf(Mode mode) const {
    if (mode == Mode::kPlain) return {};
    return Precision(low(), mode == Mode::kNative ? MatmulMode::kNative : MatmulMode::kEmulated);
  }
  Tensor There(const Shape& shape, uint64_t seed) const {
    Tensor values = Empty(shape);
    FillNormal(values, 0, 1, RandomStream({.seed = seed}));
    return values.To(low()).To(GetParam().device);
  }
  std::vector<Variable> Parameters(const Case& c, DType dtype) const {
    std::vector<Variable> all;
    for (size_t i = 0; i < c.parameters.size(); ++i)
      all.emplace_back(There(c.parameters[i], i + 2).To(dtype), true);
    return all;
  }
  Variable Run(const Case& c, const std::vector<Variable>& parameters,
               const std::optional<Precision>& precision, DType x) const {
    std::optional<WithPrecision> with;
    if (precision) with.emplace(*precision);
    return c.op(Variable(There(c.x, 1).To(x), true), parameters);
  }
  void ExpectLowGradients(const Case& c, Mode mode) const;
};

void LowParameters::ExpectLowGradients(const Case& c, Mode mode) const {
  const std::vector<Variable> got = Parameters(c, low()), want = Parameters(c, DType::kF32);
  const Variable y = Run(c, got, PrecisionOf(mode), low());
  // Without a WithPrecision, types may not be mixed: f32 throughout.
  const Variable wide = Run(c, want, PrecisionOf(mode), mode == Mode::kPlain ? DType::kF32 : low());
  const Tensor dy = There(y.shape(), 99);
  Backward({y}, {dy.To(y.dtype())});
  Backward({wide}, {dy.To(wide.dtype())});
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(got[i].grad().defined());
    ASSERT_EQ(got[i].grad().dtype(), low());
    if (c.composed && mode == Mode::kPlain) continue;
    const std::vector<float> g = ToVector<float>(got[i].grad().To(DType::kF32)),
                             w = ToVector<float>(want[i].grad());
    ASSERT_EQ(g.size(), w.size());
    float largest = 0;
    for (const float value : w) largest = std::max(largest, std::abs(value));
    // One rounding; sums of some hundred terms may run in another order.
    for (size_t j = 0; j < g.size(); ++j)
      ASSERT_NEAR(g[j], w[j],
                  testing::ToleranceRoundedOnce(low(), 300, 4 * largest, w[j]) +
                      (low() == DType::kF16 ? 0x1p-25 : 0))
          << i << " " << j;
  }
}

TEST_P(LowParameters, GetGradientsOfTheirOwnType) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    ExpectLowGradients(c, Mode::kPlain);
    ExpectLowGradients(c, Mode::kEmulated);
    if (!OnCpu() || (low() == DType::kBF16 && HasBf16Products()))
      ExpectLowGradients(c, Mode::kNative);
  }
}

TEST_P(LowParameters, AnEmbeddingGivesTheTypeOfItsTable) {
  const Variable table(There({9, 6}, 1), true);
  const Variable rows = Embedding(Numbers(table, {8, 0, 3}), table);
  EXPECT_EQ(rows.dtype(), low());
  EXPECT_EQ(ToVector<float>(rows.data().Narrow(0, 0, 1).To(DType::kF32)),
            ToVector<float>(table.data().Narrow(0, 8, 1).To(DType::kF32)));
}

std::string PlaceName(const ::testing::TestParamInfo<Place>& info) {
  return fmt::format("{}_{}", info.param.device == Device{} ? "cpu" : "gpu", Name(info.param.low));
}

INSTANTIATE_TEST_SUITE_P(Places, LowParameters,
                         ::testing::Values(Place{{}, DType::kBF16}, Place{{}, DType::kF16},
                                           Place{testing::kFirstGpu, DType::kBF16},
                                           Place{testing::kFirstGpu, DType::kF16}),
                         PlaceName);

TEST(LowParametersOfACpu, NativeF16IsRefused) {
  const Variable x(Full({2, 4}, 1)), w(Full({3, 4}, 1)), filter(Full({3, 1, 1, 4}, 1));
  const WithPrecision with({DType::kF16, MatmulMode::kNative});
  EXPECT_THROW(Linear(x, w), BadInput);
  EXPECT_THROW(Conv2d(Variable(Full({1, 2, 2, 4}, 1)), filter), BadInput);
}

}  // namespace
}  // namespace torus::ops
