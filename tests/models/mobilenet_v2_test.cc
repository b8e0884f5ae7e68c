#include "models/mobilenet_v2/mobilenet_v2.h"

#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "models/nn/describe.h"
#include "ops/loss/cross_entropy.h"
#include "runtime/rng.h"
#include "tests/models/on_meta.h"
#include "tests/testing/tolerance.h"

namespace torus {
namespace {

StepContext Context(int64_t samples, bool training = true) {
  StepContext ctx{.seed = 5, .training = training};
  for (int64_t i = 0; i < samples; ++i) ctx.samples.push_back(i);
  return ctx;
}

Variable Images(int64_t n, int64_t size, DType dtype = DType::kF32) {
  Tensor x = Empty({n, size, size, 3}, dtype);
  FillNormal(x, 0, 1, RandomStream({.seed = 2}));
  return Variable(x);
}

int64_t CountParameters(const nn::Module& model) {
  int64_t count = 0;
  for (const NamedVariable& p : model.Parameters()) count += p.value.numel();
  return count;
}

TEST(MobileNetV2, HasTorchvisionsSizeAndArithmetic) {
  const auto model = MobileNetV2();
  EXPECT_EQ(model->layers().size(), 21u);
  EXPECT_EQ(CountParameters(*model), 3504872);  // torchvision: num_params of the weights' metadata
  EXPECT_EQ(model->Parameters().size() + model->Buffers().size(), 314u);
  std::vector<Variable> image{OnMeta({1, 224, 224, 3})};
  const nn::LayerCost cost = nn::CostOf(*model, image);
  EXPECT_EQ(cost.output, (Shape{1, 1000}));
  EXPECT_NEAR(static_cast<double>(cost.flops) / 2e9, 0.301, 0.0005);  // its _ops, in GMAC
}

TEST(MobileNetV2, NamesAreTorchvisions) {
  const std::vector<NamedVariable> p = MobileNetV2()->Parameters();
  EXPECT_EQ(p.front().name, "features.0.0.weight");
  EXPECT_EQ(p[3].name, "features.1.conv.0.0.weight");
  EXPECT_EQ(p[6].name, "features.1.conv.1.weight");
  EXPECT_EQ(p[7].name, "features.1.conv.2.weight");
  EXPECT_EQ(p[9].name, "features.2.conv.0.0.weight");
  EXPECT_EQ(p.back().name, "classifier.1.bias");
  EXPECT_EQ(p[3].value.shape(), (Shape{32, 3, 3, 1}));
}

TEST(MobileNetV2, RoundsChannelsAsTorchvision) {
  EXPECT_EQ(MakeDivisible(32 * 0.25, 8), 8);
  EXPECT_EQ(MakeDivisible(24 * 0.35, 8), 8);
  EXPECT_EQ(MakeDivisible(16 * 0.75, 8), 16);  // 12: half goes up
  EXPECT_EQ(MakeDivisible(11, 8), 16);         // 8 would be below 90 % of 11
  EXPECT_EQ(MakeDivisible(33, 8), 32);
  EXPECT_EQ(MakeDivisible(33, 1), 33);
}

TEST(MobileNetV2, RefusesOptionsThatMakeNoModel) {
  EXPECT_THROW(MobileNetV2({.num_classes = 0}), BadInput);
  EXPECT_THROW(MobileNetV2({.width_mult = 0}), BadInput);
  EXPECT_THROW(MobileNetV2({.dropout = 1.5}), BadInput);
  EXPECT_THROW(MobileNetV2({.settings = {}}), BadInput);
}

TEST(MobileNetV2, CostKnowsEveryLayersOutput) {
  const auto model = MobileNetV2({.num_classes = 10, .width_mult = 0.25});
  model->Initialize(1);
  Variable y = Images(2, 48);
  std::vector<Variable> shapes{OnMeta(y.shape(), y.dtype())};
  for (const nn::Sequential::Layer& layer : model->layers()) {
    const nn::LayerCost cost = nn::CostOf(*layer.module, shapes);
    y = layer.module->Forward(y, Context(2));
    EXPECT_EQ(y.shape(), cost.output) << layer.name;
  }
}

TEST(MobileNetV2, LayerByLayerGivesTheModelsBits) {
  const auto whole = MobileNetV2({.num_classes = 10, .width_mult = 0.25}),
             cut = MobileNetV2({.num_classes = 10, .width_mult = 0.25});
  whole->Initialize(1);
  for (const nn::Sequential::Layer& layer : cut->layers()) layer.module->Initialize(1, layer.name);
  Variable y = Images(4, 32);
  for (const nn::Sequential::Layer& layer : cut->layers()) y = layer.module->Forward(y, Context(4));
  EXPECT_EQ(ToVector<float>(y.data()),
            ToVector<float>(whole->Forward(Images(4, 32), Context(4)).data()));
}

TEST(MobileNetV2, EveryParameterGetsAGradient) {
  const auto model = MobileNetV2({.num_classes = 10, .width_mult = 0.25});
  model->Initialize(1);
  const Variable labels(FromVector<int64_t>({1, 2, 3, 4}, {4}));
  Backward({ops::CrossEntropy(model->Forward(Images(4, 32), Context(4)), labels)});
  for (const NamedVariable& p : model->Parameters())
    EXPECT_TRUE(p.value.grad().defined()) << p.name;
}

// The fused f32 layers against the plain f64 ones. In evaluation nothing amplifies: a chain of at
// most 2000 terms a value.
TEST(MobileNetV2, EvaluatesInF32AsInF64) {
  const MobileNetV2Options options{.num_classes = 10, .width_mult = 0.25};
  MobileNetV2Options wide = options;
  wide.dtype = DType::kF64;
  const auto fast = MobileNetV2(options), plain = MobileNetV2(wide);
  fast->Initialize(1);
  plain->Initialize(1);
  const auto from = fast->Parameters();
  auto to = plain->Parameters();
  for (size_t i = 0; i < to.size(); ++i) to[i].value.SetData(from[i].value.data().To(DType::kF64));
  const Variable x = Images(2, 64);
  const auto got = ToVector<float>(fast->Forward(x, Context(2, false)).data());
  const auto want = ToVector<double>(
      plain->Forward(Variable(x.data().To(DType::kF64)), Context(2, false)).data());
  double magnitude = 0;
  for (const double w : want) magnitude = std::max(magnitude, std::abs(w));
  const double tolerance = testing::Tolerance(DType::kF32, 2000, magnitude);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance);
}

TEST(Describe, TableHasARowALayerAndSums) {
  const auto model = MobileNetV2({.num_classes = 10});
  const auto layers = nn::Describe(*model, {OnMeta({1, 32, 32, 3})});
  ASSERT_EQ(layers.size(), 21u);
  EXPECT_EQ(layers[18].name, "features.18");
  EXPECT_EQ(layers[20].parameters, 12810);
  const std::string table = nn::ToTable(layers);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 23);
  EXPECT_NE(table.find(std::to_string(CountParameters(*model))), std::string::npos);
}

}  // namespace
}  // namespace torus
