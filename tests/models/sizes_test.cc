// Sizes of models as published, counted without memory for their weights.
#include <gtest/gtest.h>

#include "models/amoebanet/amoebanet.h"
#include "models/gpt2/gpt2.h"
#include "models/gpt3/gpt3.h"
#include "models/llama/llama.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "models/nn/describe.h"
#include "models/resnet/cifar_resnet.h"
#include "models/resnet/resnet.h"
#include "models/roberta/roberta.h"
#include "models/vgg/vgg.h"
#include "models/vit/vit.h"
#include "tests/models/on_meta.h"

namespace torus {
namespace {

template <class Make>
int64_t Parameters(const Make& make) {
  int64_t count = 0;
  for (const NamedVariable& p : make()->Parameters()) count += p.value.numel();
  return count;
}

// torchvision's num_params of the models' weights.
TEST(Sizes, ImageModelsHaveTorchvisionsParameters) {
  EXPECT_EQ(Parameters([] { return Vgg({.depth = 11}); }), 132863336);
  EXPECT_EQ(Parameters([] { return Vgg({.depth = 13}); }), 133047848);
  EXPECT_EQ(Parameters([] { return Vgg({.depth = 16}); }), 138357544);
  EXPECT_EQ(Parameters([] { return Vgg({.depth = 19}); }), 143667240);
  EXPECT_EQ(Parameters([] { return Vgg({.depth = 13, .batch_norm = true}); }), 133053736);
  EXPECT_EQ(Parameters([] { return Vgg({.depth = 19, .batch_norm = true}); }), 143678248);
  EXPECT_EQ(Parameters([] { return ResNet({.depth = 18}); }), 11689512);
  EXPECT_EQ(Parameters([] { return ResNet({.depth = 34}); }), 21797672);
  EXPECT_EQ(Parameters([] { return ResNet({.depth = 50}); }), 25557032);
  EXPECT_EQ(Parameters([] { return ResNet({.depth = 101}); }), 44549160);
  EXPECT_EQ(Parameters([] { return MobileNetV2({.num_classes = 10}); }), 2236682);
  EXPECT_EQ(Parameters([] { return Vit(); }), 86567656);
  EXPECT_EQ(Parameters([] { return Vit(VitSmall16()); }), 22050664);
}

// He et al. 2016, table 6: 0.27 M and 0.85 M.
TEST(Sizes, CifarResNetsHaveThePapersParameters) {
  EXPECT_EQ(Parameters([] { return CifarResNet({.depth = 20}); }), 269722);
  EXPECT_EQ(Parameters([] { return CifarResNet({.depth = 56}); }), 853018);
}

// The published models by transformers: roberta-base with a head for two classes, GPT2LMHeadModel
// with its tied head.
TEST(Sizes, TransformersHaveTheReferencesParameters) {
  EXPECT_EQ(Parameters([] { return Roberta(RobertaBase()); }), 124647170);
  EXPECT_EQ(Parameters([] { return Gpt2(); }), 124439808);
  EXPECT_EQ(Parameters([] { return Gpt2(Gpt2Medium()); }), 354823168);
  EXPECT_EQ(Parameters([] { return Gpt2(Gpt2Large()); }), 774030080);
  EXPECT_EQ(Parameters([] { return Gpt2(Gpt2Xl()); }), 1557611200);
  EXPECT_EQ(Parameters([] { return Llama(); }), 6738415616);
  EXPECT_EQ(Parameters([] { return Llama(Llama2()); }), 6738415616);
  EXPECT_EQ(Parameters([] { return Llama(Llama31()); }), 8030261248);
}

// torchgpipe's table of AmoebaNet-D (L, D), in millions, to the digits that it gives.
TEST(Sizes, AmoebaNetHasTorchgpipesParameters) {
  auto millions = [](int64_t layers, int64_t filters) {
    return 1e-6 * static_cast<double>(Parameters(
                      [&] { return AmoebaNetD({.layers = layers, .filters = filters}); }));
  };
  EXPECT_NEAR(millions(18, 208), 81.5, 0.05);
  EXPECT_NEAR(millions(18, 416), 319.0, 0.05);
  EXPECT_NEAR(millions(18, 544), 542.7, 0.05);
  EXPECT_NEAR(millions(36, 544), 1060, 5);
  EXPECT_NEAR(millions(72, 512), 1840, 5);
}

// 24 layers of 12 width^2 and 13 width, and the embeddings and head.
TEST(Sizes, Gpt3XlHasItsParameters) {
  const int64_t width = 2048, layers = 24 * (12 * width * width + 13 * width),
                embeddings = (50257 + 2048) * width;
  EXPECT_EQ(Parameters([] { return Gpt3(); }),
            layers + embeddings + width * width + width + 2 * width + 2);
  EXPECT_EQ(Parameters([] { return Gpt3({.head = Gpt3Head::kLm}); }),
            layers + embeddings + 2 * width + 50257 * width);
}

TEST(Sizes, ATiedHeadCountsOnceInTheTable) {
  const auto layers = nn::Describe(*Gpt2(), {OnMeta({1, 16}, DType::kI64)});
  EXPECT_EQ(layers.back().name, "lm_head");
  EXPECT_EQ(layers.back().parameters, 0);
  EXPECT_EQ(layers.back().cost.output, (Shape{1, 16, 50257}));
}

// Multiply-adds of one 224 x 224 image, torchvision's _ops.
TEST(Sizes, ArithmeticIsTorchvisions) {
  auto giga = [](const auto& model) {
    std::vector<Variable> image{OnMeta({1, 224, 224, 3})};
    return static_cast<double>(nn::CostOf(*model, image).flops) / 2e9;
  };
  EXPECT_NEAR(giga(Vgg({.depth = 13})), 11.308, 0.001);
  EXPECT_NEAR(giga(ResNet({.depth = 18})), 1.814, 0.001);
  EXPECT_NEAR(giga(ResNet({.depth = 101})), 7.801, 0.001);
  EXPECT_NEAR(giga(Vit()), 17.564, 0.001);
}

}  // namespace
}  // namespace torus
