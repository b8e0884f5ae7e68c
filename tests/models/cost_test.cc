// Costs of layers as counted on the device meta, against counts by hand.
#include "models/nn/cost.h"

#include <gtest/gtest.h>

#include "models/amoebanet/amoebanet.h"
#include "models/gpt2/gpt2.h"
#include "models/gpt3/gpt3.h"
#include "models/nn/describe.h"
#include "models/resnet/cifar_resnet.h"
#include "models/roberta/roberta.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "tests/models/on_meta.h"

namespace torus {
namespace {

using Layers = std::vector<nn::LayerSummary>;

constexpr int64_t kFloat = 4;  // bytes

Layers OfTokens(const nn::Sequential& model, int64_t rows, int64_t tokens) {
  return nn::Describe(model, {OnMeta({rows, tokens}, DType::kI64)});
}

nn::LayerCost SumOf(const Layers& layers) {
  nn::LayerCost sum;
  for (const nn::LayerSummary& layer : layers) sum = sum.Then(layer.cost);
  return sum;
}

// One size (N, T, W) is what norm, projections of attention and residual sums put out.
TEST(Cost, OfAGpt2BlockIsItsTensors) {
  const int64_t rows = 2, tokens = 16, width = 768, one = rows * tokens * width * kFloat;
  const Layers layers = OfTokens(*Gpt2({.n_layer = 1}), rows, tokens);
  // Words, their sum with the positions of one row, dropout.
  EXPECT_EQ(layers[0].cost.activation_bytes, 3 * one + one / rows);
  // Twice norm, projection, dropout and sum; queries, keys and values, which attention reads where
  // they lie; its result; the MLP of width 4 and its GELU.
  EXPECT_EQ(layers[1].cost.activation_bytes, (2 * 4 + 3 + 1 + 4 + 4) * one);
  EXPECT_EQ(layers[1].cost.flops,
            rows * tokens * (2 * 12 * width * width + 2 * 2 * tokens * width));
}

TEST(Cost, OfARobertaLayerIsItsTensors) {
  const int64_t rows = 2, tokens = 16, width = 768, one = rows * tokens * width * kFloat;
  const Layers layers = OfTokens(*Roberta(RobertaBase()), rows, tokens);
  // Words, positions, two sums, norm and dropout; and the one row of token types.
  EXPECT_EQ(layers[0].cost.activation_bytes, 6 * one + width * kFloat);
  // Twice projection, dropout, sum and norm; queries, keys, values; attention; the MLP of width 4.
  EXPECT_EQ(layers[1].cost.activation_bytes, (2 * 4 + 3 + 1 + 4 + 4) * one);
}

// From 16 x 32 x 32 to 32 x 16 x 16: what the shortcut skips to and pads counts too.
TEST(Cost, OfAResidualBlockHasItsShortcut) {
  const Layers layers = nn::Describe(*CifarResNet({.depth = 20}), {OnMeta({2, 32, 32, 3})});
  const int64_t pixels = 2 * 16 * 16;
  EXPECT_EQ(layers[4].name, "layer2.0");
  EXPECT_EQ(layers[4].cost.activation_bytes, pixels * (4 * 32 + 16 + 32) * kFloat);
  EXPECT_EQ(layers[4].cost.flops, 2 * pixels * (9 * 16 * 32 + 9 * 32 * 32));
}

// 24 layers of width 2048 and 2048 tokens.
TEST(Cost, OfGpt3XlAtFullSizeTakesNoMemory) {
  AllocatorFor({}).ResetPeak();
  const size_t before = AllocatorFor({}).stats().peak_bytes;
  const Layers layers = OfTokens(*Gpt3({.head = Gpt3Head::kLm}), 1, 2048);
  const int64_t width = 2048, tokens = 2048, words = 50257, one = tokens * width * kFloat;
  ASSERT_EQ(layers.size(), 26u);
  const nn::LayerCost sum = SumOf(layers);
  EXPECT_EQ(sum.output, (Shape{1, tokens, words}));
  EXPECT_EQ(sum.flops, 24 * (2 * 12 * width * width * tokens + 2 * 2 * tokens * tokens * width) +
                           2 * width * words * tokens);
  // Of a layer: two norms, four projections, attention, two sums, the MLP of width 4 and its ReLU,
  // and the MLP's own output; words, positions and their sum; the last norm and the logits.
  EXPECT_EQ(sum.activation_bytes,
            24 * (2 + 4 + 1 + 2 + 4 + 4 + 1) * one + 3 * one + one + tokens * words * kFloat);
  EXPECT_EQ(AllocatorFor({}).stats().peak_bytes, before);
}

// Multiply-adds and elements put out, of one image.
struct Work {
  int64_t products = 0, elements = 0;
};

// AmoebaNet-D by the figures of its cells: `r` pixels of what comes in, `q` of what a reduction
// puts out.
class ByHand {
 public:
  explicit ByHand(int64_t filters) : c_(filters / 4), last_(c_), before_(c_), r_(112 * 112) {
    work_ = {r_ * 27 * c_, 224 * 224 * 3 + r_ * 2 * c_};  // ReLU, convolution, norm
  }
  void Reduction() {
    c_ *= 2;
    Inputs();
    const int64_t q = r_ / 4;
    // 3 x 3 behind a quarter of the channels, 1 x 7 and 7 x 1 likewise, 1 x 1.
    work_.products += r_ * c_ * c_ / 4 + q * (9 * c_ * c_ / 16 + c_ * c_ / 4);
    work_.products += q * (c_ * c_ / 2 + 14 * c_ * c_ / 16) + q * c_ * c_;
    // ReLU and the quarter before the stride; behind it the rest of 3 x 3 (2.5 c), 1 x 7 (4.5 c),
    // 1 x 1 (3 c), five pools, five sums and what three of them make together.
    work_.elements += r_ * 3 * c_ / 2 + q * (5 * c_ / 2 + 9 * c_ / 2 + (3 + 5 + 5 + 3) * c_);
    End(3, true);
  }
  void Normal() {
    Inputs();
    work_.products += r_ * (3 * c_ * c_ + 2 * (c_ * c_ / 2 + 14 * c_ * c_ / 16));
    // Three of 1 x 1 (3 c), two of 1 x 7 (4.5 c), three pools, five sums, and four together.
    work_.elements += r_ * (3 * 3 + 2 * 9 / 2 + 3 + 5 + 4) * c_;
    End(4, false);
  }
  Work Classified(int64_t classes) const {
    return {work_.products + last_ * classes, work_.elements + last_ + classes};
  }

 private:
  // Both inputs brought to c channels, by ReLU, convolution and norm. Where a reduction lies
  // between them the older one is four times as large, and two convolutions are put together.
  void Inputs() {
    work_.products += r_ * last_ * c_;
    work_.elements += r_ * (last_ + 2 * c_);
    if (!reduced_ && before_ == c_) return;
    work_.products += r_ * before_ * c_;
    work_.elements += reduced_ ? r_ * (4 * before_ + 3 * c_) : r_ * (before_ + 2 * c_);
  }
  void End(int64_t together, bool reduction) {
    before_ = last_;
    last_ = together * c_;
    reduced_ = reduction;
    if (reduction) r_ /= 4;
  }

  int64_t c_, last_, before_, r_;
  bool reduced_ = false;
  Work work_;
};

TEST(Cost, OfAmoebaNetD72x512TakesNoMemory) {
  AllocatorFor({}).ResetPeak();
  const size_t before = AllocatorFor({}).stats().peak_bytes;
  const Layers layers =
      nn::Describe(*AmoebaNetD({.layers = 72, .filters = 512}), {OnMeta({2, 224, 224, 3})});
  ByHand cells(512);
  for (int i = 0; i < 2; ++i) cells.Reduction();
  for (int group = 0; group < 3; ++group) {
    if (group > 0) cells.Reduction();
    for (int i = 0; i < 24; ++i) cells.Normal();
  }
  const Work want = cells.Classified(1000);
  const nn::LayerCost sum = SumOf(layers);
  EXPECT_EQ(sum.output, (Shape{2, 1000}));
  EXPECT_EQ(sum.flops, 2 * 2 * want.products);
  EXPECT_EQ(sum.activation_bytes, 2 * want.elements * kFloat);
  EXPECT_EQ(AllocatorFor({}).stats().peak_bytes, before);
}

// A model that has weights and statistics is run for its costs and stays as it was.
TEST(Cost, OfAModelWithMemoryLeavesNoTrace) {
  const auto model = CifarResNet({.depth = 8});
  model->Initialize(1);
  std::vector<std::vector<double>> before;
  for (const NamedTensor& buffer : model->Buffers())
    before.push_back(ToVector<double>(buffer.value.To(DType::kF64)));
  nn::Describe(*model, {OnMeta({2, 32, 32, 3})});
  model->EndMiniBatch();
  size_t i = 0;
  for (const NamedTensor& buffer : model->Buffers())
    EXPECT_EQ(ToVector<double>(buffer.value.To(DType::kF64)), before[i++]) << buffer.name;
}

// Norms over 1 x 1 pixels refuse to train on one image.
TEST(Cost, OfABatchTooSmallToTrainOnIsHalfOfTwo) {
  const auto model = CifarResNet({.depth = 8});
  const Layers one = nn::Describe(*model, {OnMeta({1, 4, 4, 3})}),
               two = nn::Describe(*model, {OnMeta({2, 4, 4, 3})});
  ASSERT_EQ(one.size(), two.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(2 * one[i].cost.flops, two[i].cost.flops) << one[i].name;
    EXPECT_EQ(2 * one[i].cost.activation_bytes, two[i].cost.activation_bytes) << one[i].name;
  }
}

TEST(Cost, OfAShapeThatTheModelRefusesIsRefused) {
  EXPECT_THROW(nn::Describe(*CifarResNet({.depth = 8}), {OnMeta({1, 4, 4, 5})}), BadInput);
}

}  // namespace
}  // namespace torus
