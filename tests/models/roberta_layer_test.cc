// A layer that computes its first token alone gives what the whole layer gives there, and the same
// gradients.
#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "models/nn/cost.h"
#include "models/roberta/encoder_layer.h"
#include "ops/view/view.h"
#include "runtime/rng.h"
#include "tests/models/on_meta.h"

namespace torus {
namespace {

using Output = RobertaLayer::Output;

constexpr int64_t kBatch = 3, kTokens = 7, kWidth = 24;

RobertaOptions Options() {
  return {.hidden_size = kWidth,
          .num_attention_heads = 4,
          .intermediate_size = 40,
          .hidden_dropout_prob = 0.3,
          .attention_probs_dropout_prob = 0,
          .dtype = DType::kF64};
}

// The first token's output, and the gradients of its sum by squares: the input's, then each
// parameter's.
std::vector<Tensor> FirstToken(Output output) {
  RobertaLayer layer(Options(), 5, output);
  layer.Initialize(3);
  Tensor data({kBatch, kTokens, kWidth}, DType::kF64), seed({kBatch, 1, kWidth}, DType::kF64);
  FillNormal(data, 0, 1, RandomStream({.seed = 1}));
  FillNormal(seed, 0, 1, RandomStream({.seed = 2}));
  const Variable x(data, true);
  const Tensor sees = FromVector(std::vector<int64_t>{1, 1, 1, 1, 1, 1, 1,  //
                                                      1, 1, 1, 1, 0, 0, 0,  //
                                                      1, 0, 0, 0, 0, 0, 0},
                                 {kBatch, 1, 1, kTokens})
                          .To(DType::kBool);
  const StepContext ctx{.seed = 4, .samples = {0, 1, 2}};
  const Variable all = layer.ForwardAll({x, Variable(sees)}, ctx)[0];
  EXPECT_EQ(all.dim(1), output == Output::kAll ? kTokens : 1);
  const Variable first = ops::Narrow(all, 1, 0, 1);
  Backward({first}, {seed});
  std::vector<Tensor> results{first.data(), x.grad()};
  for (const NamedVariable& p : layer.Parameters()) results.push_back(p.value.grad());
  return results;
}

// In f64 both sum the same few hundred terms, in other orders at most.
TEST(RobertaLayer, FirstTokenAloneIsTheFirstOfAll) {
  const std::vector<Tensor> all = FirstToken(Output::kAll), one = FirstToken(Output::kFirstToken);
  ASSERT_EQ(all.size(), 2 + 16u);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto a = ToVector<double>(all[i].Contiguous()), b = ToVector<double>(one[i].Contiguous());
    ASSERT_EQ(a.size(), b.size());
    for (size_t j = 0; j < a.size(); ++j) ASSERT_NEAR(a[j], b[j], 1e-12) << i << " " << j;
  }
}

TEST(RobertaLayer, FirstTokenAloneCostsLess) {
  const Shape input{kBatch, kTokens, kWidth};
  const auto cost = [&](Output output) {
    RobertaLayer layer(Options(), 0, output);
    std::vector<Variable> x{OnMeta(input, DType::kF64)};
    return nn::CostOf(layer, x);
  };
  const nn::LayerCost all = cost(Output::kAll), one = cost(Output::kFirstToken);
  EXPECT_EQ(all.output, input);
  EXPECT_EQ(one.output, (Shape{kBatch, 1, kWidth}));
  // Keys and values of all tokens; query, two products of attention, its output and the MLP of one.
  const int64_t linear = 2 * kBatch * kWidth;
  EXPECT_EQ(one.flops, linear * (2 * kTokens * kWidth + 2 * kWidth + 2 * kTokens + 2 * 40));
  EXPECT_EQ(all.flops, kTokens * linear * (4 * kWidth + 2 * kTokens + 2 * 40));
}

}  // namespace
}  // namespace torus
