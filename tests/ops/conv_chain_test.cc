// The fused chain against the ops that it stands for.
#include "ops/conv_chain/conv_chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "autograd/backward.h"
#include "ops/activation/activation.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/convolution/convolution.h"
#include "ops/elementwise/elementwise.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/parallel_for.h"
#include "tests/testing/conv_chain_cases.h"
#include "tests/testing/tolerance.h"
#include "tests/testing/twins.h"

namespace torus {
namespace {

using ops::Activation;
using ops::ConvChainTrain;
using ops::ConvNorm;
using testing::OddShapes;
using testing::RandomChain;
using testing::RandomLeaf;
using testing::RunChain;
using testing::UniformLeaf;
using Chain = testing::ConvChainCase;
using Results = testing::ConvChainResults;

// f64 is composed of conv2d and batch_norm, which have cases of their own; this one checks their
// composition.
TEST(ConvChain, DoubleGradientsAreRight) {
  SetTeamSize(1);
  const auto chain = [](const std::vector<Variable>& in) {
    const std::vector<ConvNorm> layers{{.weight = in[1],
                                        .norm_weight = in[2],
                                        .norm_bias = in[3],
                                        .activation = Activation::kRelu6},
                                       {.weight = in[4],
                                        .convolution = {.padding = {1, 1}, .groups = 4},
                                        .activation = Activation::kRelu6},
                                       {.weight = in[5]}};
    return std::vector<Variable>{ConvChainTrain(in[0], layers, true).y};
  };
  testing::CheckGradients(
      "batch_norm", chain,
      {RandomLeaf({2, 3, 3, 2}, 1), RandomLeaf({4, 1, 1, 2}, 2), UniformLeaf({4}, 1, 2, 3),
       RandomLeaf({4}, 4), RandomLeaf({4, 3, 3, 1}, 5), RandomLeaf({2, 1, 1, 4}, 6)});
}

// Root of the mean squared difference.
double Error(const Tensor& fast, const Tensor& exact) {
  const auto a = ToVector<double>(fast.To(DType::kF64));
  const auto b = ToVector<double>(exact);
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(std::max<size_t>(1, a.size())));
}

// The chain by the plain ops, and how large the terms are that its gradients sum.
struct PlainResults : Results {
  std::vector<Tensor> before;      // what goes into each activation
  std::vector<double> magnitudes;  // of the partial sums behind each gradient
};

// Adds a leaf of zeros, whose gradient is that of what comes out.
Variable Tap(const Variable& v, std::vector<Variable>& taps) {
  taps.emplace_back(Zeros(v.shape(), v.dtype()), true);
  return ops::Add(v, taps.back());
}

double Size(const Tensor& t) {
  double sum = 0;
  for (double v : ToVector<double>(t.To(DType::kF64))) sum += v * v;
  return std::sqrt(sum / static_cast<double>(std::max<int64_t>(1, t.numel())));
}

PlainResults RunPlain(const Chain& chain, DType dtype) {
  std::vector<Variable> leaves, taps;
  const auto leaf = [&](const Tensor& t) {
    leaves.emplace_back(t.To(dtype), true);
    return leaves.back();
  };
  const Variable first = leaf(chain.x);
  Variable x = first;
  PlainResults out;
  std::vector<double> sizes;  // of what each convolution takes
  for (size_t l = 0; l < chain.weights.size(); ++l) {
    const Variable weight = leaf(chain.weights[l]), scale = leaf(chain.norm_weights[l]);
    sizes.push_back(Size(x.data()));
    const Variable z = Tap(ops::Conv2d(x, weight, {}, chain.options[l]), taps);
    const auto norm = ops::BatchNormTrain(z, scale, leaf(chain.norm_biases[l]), 1e-2);
    out.statistics.insert(out.statistics.end(), {norm.mean, norm.var});
    out.before.push_back(norm.y.data());
    const Variable t = Tap(norm.y, taps);
    const Activation activation = chain.activations[l];
    x = activation == Activation::kNone   ? t
        : activation == Activation::kRelu ? ops::Relu(t)
                                          : ops::Relu6(t);
  }
  if (chain.residual) x = ops::Add(x, first);
  Backward({x}, {chain.dy.To(dtype)});
  out.y = x.data();
  for (const Variable& v : leaves) out.gradients.push_back(v.grad());
  // A channel's sum over its rows takes a random walk; what batch norm normalised has size 1.
  out.magnitudes.push_back(Size(first.grad()));
  for (size_t l = 0; l < sizes.size(); ++l) {
    const Tensor dz = taps[2 * l].grad(), dt = taps[2 * l + 1].grad();
    const double rows = std::sqrt(static_cast<double>(dz.numel() / dz.dim(-1)));
    out.magnitudes.push_back(rows * sizes[l] * Size(dz));
    out.magnitudes.insert(out.magnitudes.end(), 2, rows * Size(dt));
  }
  return out;
}

constexpr double kUnitRoundoff = std::numeric_limits<float>::epsilon() / 2;

// In f64, each value off by about the rounding of one f32 operation.
Tensor Disturbed(const Tensor& t, std::mt19937& random) {
  std::normal_distribution<double> noise(0, kUnitRoundoff);
  std::vector<double> values = ToVector<double>(t.To(DType::kF64));
  for (double& value : values) value *= 1 + noise(random);
  return FromVector(values, t.shape());
}

// All that goes into the chain is disturbed: each layer's weights too, which stands for the
// rounding in that layer.
PlainResults RunDisturbed(Chain chain, unsigned seed) {
  std::mt19937 random(seed);
  chain.x = Disturbed(chain.x, random), chain.dy = Disturbed(chain.dy, random);
  for (auto* tensors : {&chain.weights, &chain.norm_weights, &chain.norm_biases})
    for (Tensor& t : *tensors) t = Disturbed(t, random);
  return RunPlain(chain, DType::kF64);
}

// Distance of the nearest value to a bound of the activation.
double NearestToBound(const Tensor& before, Activation activation) {
  double nearest = std::numeric_limits<double>::infinity();
  if (activation == Activation::kNone) return nearest;
  for (double t : ToVector<double>(before)) {
    nearest = std::min(nearest, std::abs(t));
    if (activation == Activation::kRelu6) nearest = std::min(nearest, std::abs(t - 6));
  }
  return nearest;
}

// Whether a value lies so near to a clamp's bound that rounding may put it on the other side, where
// the gradient differs by a whole term: within four times the largest rounding error that the plain
// f32 ops have in that layer.
bool MayFlip(const Chain& chain, const PlainResults& exact, const PlainResults& plain) {
  for (size_t l = 0; l < exact.before.size(); ++l) {
    const auto a = ToVector<float>(plain.before[l]);
    const auto b = ToVector<double>(exact.before[l]);
    double error = 0;
    for (size_t i = 0; i < a.size(); ++i) error = std::max(error, std::abs(a[i] - b[i]));
    if (NearestToBound(exact.before[l], chain.activations[l]) <= 4 * error) return true;
  }
  return false;
}

// Of means and variances by turns. The partial sums behind a mean are as large as what it averages,
// though they may cancel.
std::vector<double> StatisticMagnitudes(const std::vector<Tensor>& statistics) {
  std::vector<double> magnitudes;
  for (size_t i = 0; i < statistics.size(); i += 2) {
    const std::vector<double> variances = ToVector<double>(statistics[i + 1]);
    const double variance = std::accumulate(variances.begin(), variances.end(), 0.0) /
                            static_cast<double>(variances.size());
    magnitudes.push_back(std::hypot(Size(statistics[i]), std::sqrt(variance)));
    magnitudes.push_back(Size(statistics[i + 1]));
  }
  return magnitudes;
}

// The largest error of a tensor, beside its magnitude.
double LargestError(const std::vector<Tensor>& tensors, const std::vector<Tensor>& exact,
                    const std::vector<double>& magnitudes) {
  double largest = 0;
  for (size_t i = 0; i < tensors.size(); ++i)
    largest = std::max(largest, Error(tensors[i], exact[i]) / magnitudes[i]);
  return largest;
}

// How much the exact chain stretches noise of one rounding: the most that it moves any result. Some
// draws, since one may leave a single number (a mean of one channel) where it was by chance.
double Moved(const Chain& chain, const PlainResults& exact) {
  double most = 0;
  for (const unsigned seed : {1, 2, 3, 4}) {
    const PlainResults noisy = RunDisturbed(chain, seed);
    most = std::max(
        {most, LargestError({noisy.y}, {exact.y}, {Size(exact.y)}),
         LargestError(noisy.statistics, exact.statistics, StatisticMagnitudes(exact.statistics)),
         LargestError(noisy.gradients, exact.gradients, exact.magnitudes)});
  }
  return most / kUnitRoundoff;
}

// Each tensor of `fast` may be off from `exact` by its magnitude times
//   Tolerance(f32, terms, 1) + 4 * stretch,
// where `terms` is the length of the longest sum, over a channel or over a kernel. How much the
// layers stretch what rounding left before them depends on the chain (its weights, and how small a
// channel's variance is), so it is measured: `stretch` is the largest relative error that the plain
// f32 ops have on the same chain. Both errors are sums of as many independent roundings, in another
// order; four standard deviations of one may meet one of the other.
//
// A fault of the plain ops must not widen what is allowed: `stretch` is at most what the exact
// chain makes of the rounding of such a sum, Tolerance(f32, terms, 1) * `moved`.
void ExpectNear(const std::vector<Tensor>& fast, const std::vector<Tensor>& exact,
                const std::vector<Tensor>& plain, const std::vector<double>& magnitudes,
                int64_t terms, double moved, const char* what) {
  const double rounding = testing::Tolerance(DType::kF32, terms, 1);
  const double stretch = LargestError(plain, exact, magnitudes);
  EXPECT_LE(stretch, rounding * moved) << what << " of the plain ops";
  const double relative = rounding + 4 * stretch;
  for (size_t i = 0; i < fast.size(); ++i)
    EXPECT_LE(Error(fast[i], exact[i]), relative * magnitudes[i]) << what << " " << i;
}

int64_t LongestSum(const Chain& chain) {
  int64_t terms = chain.x.numel() / chain.x.dim(-1);
  for (const Tensor& weight : chain.weights)
    terms = std::max(terms, weight.numel() / weight.dim(0));
  return terms;
}

// Returns whether gradients were compared too: only a chain that may flip is let off.
bool Compare(const Chain& chain) {
  const Results fast = RunChain(chain, DType::kF32);
  const PlainResults exact = RunPlain(chain, DType::kF64), plain = RunPlain(chain, DType::kF32);
  const double moved = Moved(chain, exact);
  const int64_t terms = LongestSum(chain);
  ExpectNear({fast.y}, {exact.y}, {plain.y}, {Size(exact.y)}, terms, moved, "y");
  ExpectNear(fast.statistics, exact.statistics, plain.statistics,
             StatisticMagnitudes(exact.statistics), terms, moved, "statistics");
  if (MayFlip(chain, exact, plain)) return false;
  ExpectNear(fast.gradients, exact.gradients, plain.gradients, exact.magnitudes, terms, moved,
             "gradient");
  return true;
}

// Whether wide tensors are kept or made again.
class ConvChainWays : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { SetTeamSize(1); }  // two hundred tiny chains are not worth a team
};

INSTANTIATE_TEST_SUITE_P(Expand, ConvChainWays, ::testing::Bool());

TEST_P(ConvChainWays, FusedAgreesWithComposedAtEveryVectorWidth) {
  testing::ForEachVectorWidth([] {
    OddShapes draw(3);
    int compared = 0;
    for (int i = 0; i < 300 && !HasFailure(); ++i) {
      SCOPED_TRACE(i);
      compared += Compare(RandomChain(draw, GetParam()));
    }
    EXPECT_GE(compared, 200);
  });
}

// Without clamps nothing can flip: every gradient is compared.
TEST_P(ConvChainWays, FusedGradientsAgreeWithoutClamps) {
  testing::ForEachVectorWidth([] {
    OddShapes draw(4);
    for (int i = 0; i < 200 && !HasFailure(); ++i) {
      SCOPED_TRACE(i);
      Chain chain = RandomChain(draw, GetParam());
      std::fill(chain.activations.begin(), chain.activations.end(), Activation::kNone);
      EXPECT_TRUE(Compare(chain));
    }
  });
}

TEST(ConvChain, BadInputIsNamed) {
  const Variable x(Zeros({2, 4, 4, 3}));
  EXPECT_THROW(ConvChainTrain(x, {}), BadInput);
  EXPECT_THROW(ConvChainTrain(x, {{.weight = Variable(Zeros({2, 1, 1, 4}))}}), BadInput);
  EXPECT_THROW(ConvChainTrain(x, {{.weight = Variable(Zeros({2, 1, 1, 3})),
                                   .norm_weight = Variable(Zeros({3}))}}),
               BadInput);
  EXPECT_THROW(ConvChainTrain(x, {{.weight = Variable(Zeros({2, 1, 1, 3}))}}, true), BadInput);
}

}  // namespace
}  // namespace torus
