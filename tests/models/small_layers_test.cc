// What containers, activations, losses as values, bags of embeddings and dropouts promise.
#include <gtest/gtest.h>

#include <cmath>

#include "models/nn/activation_layers.h"
#include "models/nn/containers.h"
#include "models/nn/dropout.h"
#include "models/nn/embedding_bag.h"
#include "models/nn/linear.h"
#include "models/nn/loss_functions.h"
#include "tests/testing/error_of.h"

namespace torus::nn {
namespace {

TEST(Containers, NameTheirModules) {
  ModuleList list({std::make_shared<Linear>(LinearOptions{.in = 1, .out = 1, .bias = false}),
                   std::make_shared<Identity>()});
  list.Append(std::make_shared<Linear>(LinearOptions{.in = 2, .out = 1, .bias = false}));
  ASSERT_EQ(list.size(), 3);
  EXPECT_EQ(list.Parameters("m")[1].name, "m.2.weight");
  EXPECT_EQ(&list[-3], &list[0]);
  EXPECT_THROW(list[3], BadInput);
  EXPECT_THROW(list.Forward(Variable(Zeros({1})), {}), BadInput);

  ModuleMap map;
  map.Add("b", std::make_shared<Linear>(LinearOptions{.in = 1, .out = 1, .bias = false}));
  map.Add("a", std::make_shared<Relu>());
  EXPECT_EQ(map.Names(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(map.Parameters()[0].name, "b.weight");
  EXPECT_TRUE(map.Has("a"));
  EXPECT_FALSE(map.Has("c"));
  EXPECT_EQ(testing::ErrorOf([&] { map["c"]; }), "[module_map] has no module c; there are: b, a");
  for (const char* name : {"a", "", "x.y"})
    EXPECT_THROW(map.Add(name, std::make_shared<Relu>()), BadInput) << name;
  EXPECT_THROW(map.Forward(Variable(Zeros({1})), {}), BadInput);
}

// Each by a value that only its function has.
TEST(ActivationLayers, ComputeTheirFunctions) {
  const auto at = [](Module&& layer, float x) {
    return layer.Forward(Variable(Full({1}, x)), {}).data().Item();
  };
  EXPECT_EQ(at(Identity(), -3), -3);
  EXPECT_EQ(at(Relu(), -3), 0);
  EXPECT_EQ(at(Relu6(), 7), 6);
  EXPECT_EQ(at(Hardtanh(), -3), -1);
  EXPECT_EQ(at(Hardtanh(-2, 2), -3), -2);
  EXPECT_FLOAT_EQ(at(LeakyRelu(), -3), -0.03);
  EXPECT_FLOAT_EQ(at(LeakyRelu(0.5), -3), -1.5);
  EXPECT_FLOAT_EQ(at(Sigmoid(), 1), 1 / (1 + std::exp(-1.0)));
  EXPECT_FLOAT_EQ(at(LogSigmoid(), 1), -std::log1p(std::exp(-1.0)));
  EXPECT_FLOAT_EQ(at(Tanh(), 1), std::tanh(1.0));
  EXPECT_FLOAT_EQ(at(Silu(), 1), 1 / (1 + std::exp(-1.0)));
  EXPECT_FLOAT_EQ(at(Gelu(), 1), std::erfc(-std::sqrt(0.5)) / 2);
  EXPECT_NE(at(Gelu("tanh"), 1), at(Gelu(), 1));
  EXPECT_FLOAT_EQ(at(Softplus(2), 1), std::log1p(std::exp(2.0)) / 2);
  EXPECT_THROW(at(Gelu("sigmoid"), 1), BadInput);
  const Variable pair(FromVector<float>({0, std::log(3.0f)}, {2, 1}));
  EXPECT_FLOAT_EQ(ToVector<float>(Softmax(0).Forward(pair, {}).data())[1], 0.75);
  EXPECT_FLOAT_EQ(ToVector<float>(Softmax(1).Forward(pair, {}).data())[1], 1);
  EXPECT_FLOAT_EQ(ToVector<float>(LogSoftmax(0).Forward(pair, {}).data())[1], std::log(0.75));
}

TEST(LossFunctions, ComputeTheirFunctions) {
  const Variable zeros(Zeros({2, 4})), threes(Full({2, 4}, 3));
  const auto of = [&](const Loss& loss) { return loss(zeros, threes).data().Item(); };
  EXPECT_EQ(of(MseLoss()), 9);
  EXPECT_EQ(of(MseLoss(ops::LossReduction::kSum)), 72);
  EXPECT_EQ(of(L1Loss()), 3);
  EXPECT_EQ(of(HuberLoss(ops::LossReduction::kMean, 2)), 4);
  EXPECT_EQ(of(SmoothL1Loss()), 2.5);
  EXPECT_FLOAT_EQ(of(BceWithLogitsLoss()), std::log(2.0));
  const Tensor classes = FromVector<int64_t>({1, -100}, {2});
  EXPECT_FLOAT_EQ(CrossEntropyLoss()({zeros}, classes).data().Item(), std::log(4.0));
  EXPECT_EQ(NllLoss()({threes}, classes).data().Item(), -3);
  EXPECT_EQ(
      CrossEntropyLoss({.reduction = ops::LossReduction::kNone})(zeros, Variable(classes)).shape(),
      Shape({2}));
}

TEST(EmbeddingBagLayer, StartsNormalWithoutItsPaddingAndTakesItsInputs) {
  EmbeddingBag layer(
      {.num_embeddings = 1000, .embedding_dim = 5, .mode = ops::BagMode::kSum, .padding_idx = -1});
  layer.Initialize(1);
  const auto weight = ToVector<float>(layer.Parameters()[0].value.data());
  double squares = 0;
  for (const float v : weight) squares += v * v;
  EXPECT_NEAR(squares / 4995, 1, 5 * std::sqrt(2.0 / 4995)) << "within five deviations";
  EXPECT_EQ(std::vector<float>(weight.end() - 5, weight.end()), std::vector<float>(5, 0));
  const Variable flat(FromVector<int64_t>({1, 2, 3}, {3})),
      starts(FromVector<int64_t>({0, 2}, {2}));
  const Variable factors(FromVector<float>({0, 2, 1}, {3}));
  const auto bags = ToVector<float>(layer.ForwardAll({flat, starts, factors}, {})[0].data());
  EXPECT_EQ(bags[0], 2 * weight[10]);
  EXPECT_EQ(bags[5], weight[15]);
  const Variable rows(FromVector<int64_t>({1, 999}, {1, 2}));
  EXPECT_EQ(ToVector<float>(layer.Forward(rows, {}).data())[0], weight[5]);
  EXPECT_THROW(layer.Forward(flat, {}), BadInput) << "no offsets";
}

TEST(DropoutLayers, CheckTheirProbability) {
  EXPECT_THROW(Dropout2d(1.5, 0), BadInput);
  EXPECT_THROW(StochasticDepth(-1, ops::DepthMode::kRow, 0), BadInput);
  StochasticDepth gone(1, ops::DepthMode::kBatch, 0);
  const Variable x(Full({2, 1, 1, 3}, 1));
  EXPECT_EQ(ToVector<float>(gone.Forward(x, {.samples = {0, 1}}).data()), std::vector<float>(6, 0));
  EXPECT_EQ(gone.Forward(x, {.training = false}), x);
  Dropout2d channels(0.5, 0);
  const auto kept = ToVector<float>(channels.Forward(x, {.samples = {0, 1}}).data());
  for (const float v : kept) EXPECT_TRUE(v == 0 || v == 2);
}

}  // namespace
}  // namespace torus::nn
