// What holds of every model: costs that tell shapes, layers that may be cut anywhere, gradients for
// all, and files that keep every bit. Small ones of each kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "autograd/op_observer.h"
#include "models/amoebanet/amoebanet.h"
#include "models/checkpoint/state_dict.h"
#include "models/gpt2/gpt2.h"
#include "models/gpt3/gpt3.h"
#include "models/nn/cost.h"
#include "models/resnet/cifar_resnet.h"
#include "models/resnet/resnet.h"
#include "models/roberta/roberta.h"
#include "models/vgg/vgg.h"
#include "models/vit/vit.h"
#include "runtime/rng.h"
#include "tests/models/on_meta.h"
#include "tests/models/text_inputs.h"
#include "tests/testing/error_of.h"

namespace torus {
namespace {

std::vector<Variable> Images(int64_t size) {
  Tensor x = Empty({4, size, size, 3});
  FillNormal(x, 0, 1, RandomStream({.seed = 2}));
  return {Variable(x)};
}

struct Kind {
  std::string name;
  std::function<Model()> make;
  std::function<std::vector<Variable>()> inputs;
  std::string zeros;  // the parameter that starts as zeros, through which no gradient comes
};

class EveryModel : public ::testing::TestWithParam<Kind> {
 protected:
  Model Initialized(uint64_t seed = 1) const {
    const Model model = GetParam().make();
    model->Initialize(seed);
    for (NamedVariable& p : model->Parameters())
      if (p.name == GetParam().zeros)
        FillNormal(p.value.mutable_data(), 0, 1, RandomStream({.seed = seed}));
    return model;
  }
};

TEST_P(EveryModel, CostsTellEveryLayersOutput) {
  const Model model = Initialized();
  std::vector<Variable> y = GetParam().inputs(), shapes;
  for (const Variable& input : y) shapes.push_back(OnMeta(input.shape(), input.dtype()));
  for (const nn::Sequential::Layer& layer : model->layers()) {
    const nn::LayerCost cost = nn::CostOf(*layer.module, shapes);
    y = layer.module->ForwardAll(y, Context(4));
    EXPECT_EQ(y[0].shape(), cost.output) << layer.title;
    ASSERT_EQ(shapes.size(), y.size()) << layer.title;
    for (size_t i = 0; i < y.size(); ++i) {
      EXPECT_EQ(shapes[i].shape(), y[i].shape()) << layer.title;
      EXPECT_EQ(shapes[i].dtype(), y[i].dtype()) << layer.title;
    }
  }
}

// The memory that ops make on a CPU for floating-point numbers, however many tensors view it.
class MadeMemory : public OpObserver {
 public:
  void OnOp(std::string_view op, const std::vector<Variable>& inputs,
            const std::vector<Variable>& outputs) override {
    fused_ = fused_ || op == "conv_chain";
    for (const Variable& input : inputs)
      if (input.defined()) made_.emplace(input.data().storage(), false);
    for (const Variable& output : outputs)
      made_.emplace(output.data().storage(), IsFloating(output.dtype()));
  }
  void OnProduct(int64_t) override {}
  int64_t bytes() const {
    int64_t sum = 0;
    for (const auto& [storage, made] : made_) sum += made ? storage->bytes() : 0;
    return sum;
  }
  bool fused() const { return fused_; }

 private:
  std::map<std::shared_ptr<Storage>, bool> made_;  // false: was there before
  bool fused_ = false;
};

// What a fused chain leaves out, the layers apart make in evaluation mode.
TEST_P(EveryModel, CostsAreTheMemoryThatOpsMake) {
  const Model model = Initialized();
  std::vector<Variable> y = GetParam().inputs(), shapes;
  for (const Variable& input : y) shapes.push_back(OnMeta(input.shape(), input.dtype()));
  const NoGrad no_grad;
  for (const nn::Sequential::Layer& layer : model->layers()) {
    const nn::LayerCost cost = nn::CostOf(*layer.module, shapes);
    const std::vector<Variable> x = y;
    const auto made = [&](bool training) -> std::optional<int64_t> {
      StepContext context = Context(4);
      context.training = training;
      layer.module->EndMiniBatch(false);
      MadeMemory memory;
      y = layer.module->ForwardAll(x, context);
      return memory.fused() ? std::nullopt : std::optional(memory.bytes());
    };
    std::optional<int64_t> bytes = made(true);
    if (!bytes) bytes = made(false);
    EXPECT_EQ(cost.activation_bytes, bytes) << layer.title;
  }
}

TEST_P(EveryModel, CutsBetweenAllLayersChangeNoBit) {
  const Model whole = Initialized(), cut = Initialized();
  std::vector<Variable> y = GetParam().inputs();
  for (const nn::Sequential::Layer& layer : cut->layers()) {
    y = layer.module->ForwardAll(y, Context(4));
    for (Variable& v : y) v = v.Detach();  // as a tensor that came over a link
  }
  const Variable want = whole->ForwardAll(GetParam().inputs(), Context(4))[0];
  EXPECT_EQ(ToVector<float>(y[0].data()), ToVector<float>(want.data()));
}

// Random seeds: the sum of what a norm puts out is constant, and so has no gradient.
TEST_P(EveryModel, EveryParameterGetsAGradient) {
  const Model model = Initialized();
  const Variable y = model->ForwardAll(GetParam().inputs(), Context(4))[0];
  Tensor seed(y.shape(), y.dtype());
  FillNormal(seed, 0, 1, RandomStream({.seed = 3}));
  Backward({y}, {seed});
  for (const NamedVariable& p : model->Parameters()) {
    ASSERT_TRUE(p.value.grad().defined()) << p.name;
    const std::vector<float> grad = ToVector<float>(p.value.grad());
    EXPECT_TRUE(std::ranges::any_of(grad, [](float g) { return g != 0; })) << p.name;
    EXPECT_TRUE(std::ranges::all_of(grad, [](float g) { return std::isfinite(g); })) << p.name;
  }
}

TEST_P(EveryModel, LayersNamesAreAllDifferent) {
  const Model model = GetParam().make();
  std::vector<std::string> titles, names;
  for (const nn::Sequential::Layer& layer : model->layers()) titles.push_back(layer.title);
  for (const NamedVariable& p : model->Parameters()) names.push_back(p.name);
  for (std::vector<std::string>* list : {&titles, &names}) {
    std::sort(list->begin(), list->end());
    EXPECT_EQ(std::adjacent_find(list->begin(), list->end()), list->end());
  }
}

TEST_P(EveryModel, AFileKeepsEveryBit) {
  const Model saved = Initialized(1), loaded = Initialized(2);
  const std::string path = ::testing::TempDir() + "/" + GetParam().name + ".safetensors";
  SaveModel(*saved, path);
  LoadModel(*loaded, path);
  const std::vector<NamedTensor> want = StateDict(*saved), got = StateDict(*loaded);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_EQ(std::memcmp(got[i].value.raw(), want[i].value.raw(), want[i].value.bytes()), 0)
        << want[i].name;
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EveryModel,
    ::testing::Values(
        Kind{"vgg11_bn",
             [] { return Vgg({.depth = 11, .batch_norm = true, .num_classes = 3, .hidden = 8}); },
             [] { return Images(32); }},
        Kind{"resnet18", [] { return ResNet({.depth = 18, .num_classes = 3}); },
             [] { return Images(32); }},
        Kind{"cifar_resnet8", [] { return CifarResNet({.depth = 8, .num_classes = 3}); },
             [] { return Images(16); }},
        Kind{"amoebanetd",
             [] { return AmoebaNetD({.layers = 3, .filters = 16, .num_classes = 3}); },
             [] { return Images(64); }},
        Kind{"roberta", [] { return Roberta(SmallRoberta(RobertaHead::kClassification)); },
             [] { return Tokens(true); }},
        Kind{"roberta_mlm", [] { return Roberta(SmallRoberta(RobertaHead::kMaskedLm)); },
             [] { return Tokens(false); }},
        Kind{"gpt2", [] { return Gpt2(SmallGpt2(true)); }, [] { return Tokens(true); }},
        Kind{"nanogpt", [] { return Gpt2(SmallGpt2(false)); }, [] { return Tokens(false); }},
        Kind{"gpt3", [] { return Gpt3(SmallGpt3(Gpt3Head::kClassification)); },
             [] { return Tokens(true); }},
        Kind{"llama", [] { return Llama(SmallLlama(false)); }, [] { return Tokens(true); }},
        Kind{"llama_tied", [] { return Llama(SmallLlama(true)); }, [] { return Tokens(false); }},
        Kind{"vit",
             [] {
               return Vit({.image_size = 16,
                           .patch_size = 4,
                           .num_layers = 2,
                           .num_heads = 3,
                           .hidden_dim = 12,
                           .mlp_dim = 20,
                           .dropout = 0.1,
                           .attention_dropout = 0.1,
                           .num_classes = 3});
             },
             [] { return Images(16); }, "heads.head.weight"},
        Kind{"gpt3_lm", [] { return Gpt3(SmallGpt3(Gpt3Head::kLm)); },
             [] { return Tokens(false); }}),
    [](const auto& info) { return info.param.name; });

TEST(Vit, RefusesImagesOfAnotherSize) {
  const auto model = Vit({.image_size = 16, .patch_size = 8, .num_layers = 1});
  EXPECT_EQ(testing::ErrorOf([&] {
              model->Forward(OnMeta({2, 16, 24, 3}), Context(2));
            }),
            "[vit] needs images (N, 16, 16, 3), got (2, 16, 24, 3)");
  EXPECT_EQ(testing::ErrorOf([] { Vit({.image_size = 30, .patch_size = 8}); }),
            "[vit] patch_size must divide image_size, got 8 and 30");
}

// Which no gradient reaches: the body learns from the second step on.
TEST(Vit, StartsWithAHeadOfZeros) {
  const auto model = Vit({.image_size = 8, .patch_size = 8, .num_layers = 1});
  model->Initialize(1);
  Tensor image = Full({1, 8, 8, 3}, 0.5);
  EXPECT_EQ(ToVector<float>(model->Forward(Variable(image), Context(1)).data()),
            std::vector<float>(1000, 0));
}

}  // namespace
}  // namespace torus
