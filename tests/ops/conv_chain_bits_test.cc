// The fused chain's bits: those of any team, of ranks at once, and of deferred gradients.
#include <gtest/gtest.h>

#include <thread>

#include "autograd/backward.h"
#include "ops/conv_chain/conv_chain.h"
#include "runtime/parallel_for.h"
#include "tests/testing/conv_chain_cases.h"

namespace torus {
namespace {

using ops::Activation;
using ops::ConvChainTrain;
using ops::ConvNorm;
using testing::AddLayer;
using testing::OddShapes;
using testing::RunChain;
using Chain = testing::ConvChainCase;
using Results = testing::ConvChainResults;

// Whether wide tensors are kept or made again.
class ConvChainBits : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { SetTeamSize(1); }  // two hundred tiny chains are not worth a team
};

INSTANTIATE_TEST_SUITE_P(Expand, ConvChainBits, ::testing::Bool());

Chain BigChain(bool expand) {
  OddShapes draw(5);
  Chain chain;
  if (expand) chain.expand_bytes = 0;
  chain.x = draw.Normal({4, 33, 33, 8});
  AddLayer(chain, draw, 8, 24, 1, false);
  AddLayer(chain, draw, 24, 24, 3, true);
  AddLayer(chain, draw, 24, 8, 1, false);
  chain.options[1].stride = {1, 1};
  chain.activations = {Activation::kRelu6, Activation::kRelu6, Activation::kNone};
  chain.residual = true;
  chain.dy = draw.Normal(chain.x.shape());
  return chain;
}

TEST_P(ConvChainBits, BitsDoNotDependOnTheTeam) {
  const Chain chain = BigChain(GetParam());
  SetTeamSize(1);
  const Results one = RunChain(chain, DType::kF32);
  SetTeamSize(3);
  const Results three = RunChain(chain, DType::kF32);
  EXPECT_EQ(ToVector<float>(one.y), ToVector<float>(three.y));
  for (size_t i = 0; i < one.gradients.size(); ++i)
    EXPECT_EQ(ToVector<float>(one.gradients[i]), ToVector<float>(three.gradients[i])) << i;
}

// Also the first call of each primitive, which all ranks ask of the same cache.
TEST_P(ConvChainBits, RanksAtOnceGetTheBitsOfOne) {
  OddShapes draw(6);
  Chain stem;
  stem.x = draw.Normal({2, 15, 15, 3});
  AddLayer(stem, draw, 3, 11, 3, false);
  stem.options[0].stride = {2, 2};
  stem.residual = false;
  stem.dy = draw.Normal({2, 8, 8, 11});
  const Chain wide = BigChain(GetParam());
  std::vector<Results> results(6);
  std::vector<std::thread> ranks;
  for (size_t r = 0; r < results.size(); ++r)
    ranks.emplace_back([&, r] {
      SetTeamSize(1);
      results[r] = RunChain(r % 2 == 0 ? stem : wide, DType::kF32);
    });
  for (std::thread& rank : ranks) rank.join();
  for (size_t r = 2; r < results.size(); ++r) {
    EXPECT_EQ(ToVector<float>(results[r].y), ToVector<float>(results[r % 2].y));
    for (size_t i = 0; i < results[r].gradients.size(); ++i)
      EXPECT_EQ(ToVector<float>(results[r].gradients[i]),
                ToVector<float>(results[r % 2].gradients[i]));
  }
}

TEST_P(ConvChainBits, DeferredWeightGradientsHaveTheSameBits) {
  const Chain chain = BigChain(GetParam());
  const Results whole = RunChain(chain, DType::kF32);
  const Variable x(chain.x, true), weight(chain.weights[0], true);
  std::vector<ConvNorm> layers;
  for (size_t l = 0; l < 3; ++l)
    layers.push_back({l == 0 ? weight : Variable(chain.weights[l]), chain.options[l],
                      Variable(chain.norm_weights[l]), Variable(chain.norm_biases[l]), 1e-2,
                      chain.activations[l]});
  BackwardResult halves = Backward({ConvChainTrain(x, layers, true, chain.expand_bytes).y},
                                   {chain.dy}, {.defer_leaves = true, .wanted = {x}});
  EXPECT_FALSE(weight.grad().defined());
  EXPECT_EQ(ToVector<float>(halves.wanted[0]), ToVector<float>(whole.gradients[0]));
  halves.deferred.Run();
  EXPECT_EQ(ToVector<float>(weight.grad()), ToVector<float>(whole.gradients[1]));
}

}  // namespace
}  // namespace torus
