#include "models/nn/module.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <type_traits>

#include "models/nn/conv_bn_relu6.h"
#include "models/nn/dropout.h"
#include "models/nn/linear.h"
#include "models/nn/print_module.h"
#include "models/nn/sequential.h"
#include "runtime/error.h"
#include "tests/testing/error_of.h"

namespace torus::nn {
namespace {

std::shared_ptr<Sequential> SmallModel() {
  auto model = std::make_shared<Sequential>();
  model->Add("features.0", std::make_shared<ConvBnRelu6>(Conv2dOptions{.in = 3, .out = 4}));
  model->Add("classifier", std::make_shared<Linear>(LinearOptions{.in = 4, .out = 2}));
  return model;
}

template <class Named>
std::vector<std::string> Names(const std::vector<Named>& list) {
  std::vector<std::string> names;
  for (const Named& one : list) names.push_back(one.name);
  return names;
}

TEST(Module, NamesParametersAndBuffersInModelOrder) {
  const auto model = SmallModel();
  EXPECT_EQ(
      Names(model->Parameters()),
      (std::vector<std::string>{"features.0.0.weight", "features.0.1.weight", "features.0.1.bias",
                                "classifier.weight", "classifier.bias"}));
  EXPECT_EQ(
      Names(model->Buffers("net")),
      (std::vector<std::string>{"net.features.0.1.running_mean", "net.features.0.1.running_var",
                                "net.features.0.1.num_batches_tracked"}));
}

TEST(Module, ParametersAreTheModulesOwn) {
  const auto model = SmallModel();
  model->Initialize(1);
  Variable weight = model->Parameters()[3].value;
  weight.SetData(Zeros({2, 4}));
  Variable bias = model->Parameters()[4].value;
  bias.SetData(Zeros({2}));
  const Variable y = model->layers()[1].module->Forward(Variable(Full({1, 4}, 1)), {});
  EXPECT_EQ(ToVector<float>(y.data()), (std::vector<float>{0, 0}));
}

TEST(Module, HasNoMemoryUntilItIsInitialized) {
  const auto model = SmallModel();
  std::vector<Tensor> state;
  for (const NamedVariable& p : model->Parameters()) state.push_back(p.value.data());
  for (const NamedTensor& b : model->Buffers()) state.push_back(b.value);
  for (const Tensor& tensor : state) EXPECT_EQ(tensor.device(), kMetaDevice);
  const Variable weight = model->Parameters()[3].value;
  model->Initialize(1);
  EXPECT_EQ(weight.data().device(), Device());  // a handle from before
  for (const NamedTensor& b : model->Buffers()) EXPECT_EQ(b.value.device(), Device()) << b.name;
  EXPECT_EQ(ToVector<float>(model->Buffers()[1].value), std::vector<float>(4, 1));
}

TEST(Module, AModelOfAnySizeCanBeMade) {
  const Linear large({.in = int64_t{1} << 24, .out = int64_t{1} << 24});
  EXPECT_EQ(large.Parameters()[0].value.numel(), int64_t{1} << 48);
}

TEST(Module, InitialValuesDependOnSeedAndNameAlone) {
  const auto whole = SmallModel(), other_seed = SmallModel();
  whole->Initialize(7);
  other_seed->Initialize(8);
  Linear alone({.in = 4, .out = 2});
  alone.Initialize(7, "classifier");
  const auto expected = ToVector<float>(whole->Parameters()[3].value.data());
  EXPECT_EQ(ToVector<float>(alone.Parameters()[0].value.data()), expected);
  EXPECT_NE(ToVector<float>(other_seed->Parameters()[3].value.data()), expected);
}

// A module of a parameter, a buffer and a child, with names that the test chooses.
class Named : public Module {
 public:
  Named(const std::string& parameter, const std::string& buffer, const std::string& child) {
    AddParameter(parameter, {2}, DType::kF32, Constant(1));
    AddBuffer(buffer, {2}, DType::kF32, Constant(0));
    AddChild("inner", std::make_shared<Linear>(LinearOptions{.in = 2, .out = 2}));
    AddChild(child, std::make_shared<Linear>(LinearOptions{.in = 2, .out = 2}));
  }
  Variable Forward(const Variable& x, const StepContext&) override { return x; }
};

TEST(Module, RefusesASecondOfOneName) {
  EXPECT_EQ(testing::ErrorOf([] { Named("scale", "scale", "other"); }),
            "[module] has two parameters or buffers named scale");
  EXPECT_EQ(testing::ErrorOf([] { Named("scale", "count", "inner"); }),
            "[module] has two children named inner");
  Named fine("scale", "count", "other");
  fine.Initialize(1);
  Named met("inner.weight", "count", "other");
  EXPECT_EQ(testing::ErrorOf([&] { met.Initialize(1); }),
            "[module] has two parameters or buffers named inner.weight");
}

// A module that passes these initializers on.
class Initialized : public Module {
 public:
  Initialized(const Initializer& parameter, const Initializer& buffer) {
    AddParameter("w", {2}, DType::kF32, parameter);
    AddBuffer("b", {2}, DType::kF32, buffer);
  }
  Variable Forward(const Variable& x, const StepContext&) override { return x; }
};

TEST(Module, NeedsInitializers) {
  EXPECT_EQ(testing::ErrorOf([] { Initialized({}, Constant(0)); }),
            "[module] parameter w needs an initializer");
  EXPECT_EQ(testing::ErrorOf([] { Initialized(Constant(0), {}); }),
            "[module] buffer b needs an initializer");
}

TEST(Module, RefusesDropoutLayersOfOneNumber) {
  Sequential same(Dropout(0.5, 0), Linear({.in = 2, .out = 2}), Dropout2d(0.1, 0));
  EXPECT_EQ(testing::ErrorOf([&] { same.Initialize(1, "net"); }),
            "[dropout] net.0 and net.2 both have the number 0 and would drop the same elements: "
            "number the dropout layers of a model differently");
  Sequential numbered(Dropout(0.5, 0), Linear({.in = 2, .out = 2}), Dropout2d(0.1, 1));
  numbered.Initialize(1);
  Sequential twice;
  const auto shared = twice.Add(Dropout(0.5, 0));
  twice.Add(shared);
  twice.Initialize(1);  // one layer that runs twice is asked for
}

// The device meta is not contagious by accident.
TEST(Module, WithoutValuesRefusesAnInputThatHasThem) {
  Sequential model(Linear({.in = 2, .out = 3}));
  const Variable x(Full({4, 2}, 1)), shape(Empty({4, 2}, DType::kF32, kMetaDevice));
  EXPECT_EQ(testing::ErrorOf([&] { model.Forward(x, {}); }),
            "[linear] input is on cpu, weight on meta, without values: the model was not "
            "initialized (Initialize, LoadModel), or the layer was not given to AddChild");
  EXPECT_EQ(model.Forward(shape, {}).shape(), Shape({4, 3}));
  const auto images = SmallModel();
  const Variable image(Full({1, 2, 2, 3}, 1));
  for (const bool training : {true, false})
    EXPECT_THROW(images->Forward(image, {.training = training}), BadInput);
  model.Initialize(1);
  EXPECT_EQ(model.Forward(x, {}).data().device(), Device());
  EXPECT_EQ(model.Forward(shape, {}).data().device(), kMetaDevice) << "asked for";
}

TEST(Sequential, NamesTheLayersOfItsDeclarationByTheirPlace) {
  Sequential model(Linear({.in = 3, .out = 4}),
                   Sequential(Linear({.in = 4, .out = 4}), Linear({.in = 4, .out = 2})));
  EXPECT_EQ(Names(model.layers()), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(Names(model.Parameters()),
            (std::vector<std::string>{"0.weight", "0.bias", "1.0.weight", "1.0.bias", "1.1.weight",
                                      "1.1.bias"}));
  model.Initialize(1);
  EXPECT_EQ(model.Forward(Variable(Full({5, 3}, 1)), {}).shape(), (Shape{5, 2}));
}

TEST(Module, IsPrintedWithItsNamesShapesAndSize) {
  EXPECT_EQ(ToString(*SmallModel()),
            "features.0.0.weight                f32 (4, 1, 1, 3)\n"
            "features.0.1.weight                f32 (4)\n"
            "features.0.1.bias                  f32 (4)\n"
            "classifier.weight                  f32 (2, 4)\n"
            "classifier.bias                    f32 (2)\n"
            "features.0.1.running_mean          f32 (4) buffer\n"
            "features.0.1.running_var           f32 (4) buffer\n"
            "features.0.1.num_batches_tracked   i64 () buffer\n"
            "30 parameters\n");
}

TEST(Sequential, ALayerThatMovesInIsTheSame) {
  const auto model = SmallModel();
  ConvBnRelu6 convolution(Conv2dOptions{.in = 3, .out = 4});
  const Variable weight = convolution.Parameters()[0].value;
  Sequential moved;
  moved.Add("features.0", std::move(convolution));
  const auto classifier = moved.Add("classifier", Linear({.in = 4, .out = 2}));
  EXPECT_EQ(classifier, moved.layers()[1].module);
  EXPECT_TRUE(moved.Parameters()[0].value == weight);
  EXPECT_EQ(Names(moved.Parameters()), Names(model->Parameters()));
  EXPECT_EQ(Names(moved.Buffers()), Names(model->Buffers()));
  model->Initialize(1);
  moved.Initialize(1);
  const Variable x(Full({1, 2, 2, 3}, 0.5));
  EXPECT_EQ(ToVector<float>(moved.Forward(x, {.training = false}).data()),
            ToVector<float>(model->Forward(x, {.training = false}).data()));
}

// A layer that has a name of its own moves only where that is written.
static_assert(std::is_constructible_v<Sequential, Linear, Linear>);
static_assert(!std::is_constructible_v<Sequential, Linear&>);
static_assert(!std::is_constructible_v<Sequential, const Sequential&>);

TEST(Init, KaimingNormalHasTheDeviationOfFanOut) {
  Tensor weight = Empty({64, 3, 3, 32});
  KaimingNormalFanOut()(weight, RandomStream({.seed = 3}));
  double sum = 0, squares = 0;
  for (const float w : ToVector<float>(weight)) sum += w, squares += static_cast<double>(w) * w;
  const double n = static_cast<double>(weight.numel()), expected = std::sqrt(2.0 / (64 * 9));
  // Of n normal values the mean deviates by sigma / sqrt(n), the deviation by sigma / sqrt(2 n):
  // five of each.
  EXPECT_NEAR(sum / n, 0, 5 * expected / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n), expected, 5 * expected / std::sqrt(2 * n));
}

TEST(Init, KaimingNormalRefusesOtherRanks) {
  Tensor vector = Empty({3});
  EXPECT_THROW(KaimingNormalFanOut()(vector, RandomStream({})), BadInput);
}

TEST(Conv2d, RefusesGroupsThatDoNotDivide) {
  EXPECT_THROW(Conv2d({.in = 3, .out = 4, .groups = 2}), BadInput);
}

}  // namespace
}  // namespace torus::nn
