#include "tests/testing/conv_chain_cases.h"

#include <cmath>

#include "autograd/backward.h"
#include "runtime/kernels.h"

namespace torus::testing {

using ops::Activation;
using ops::ConvChainTrain;
using ops::ConvNorm;

namespace {

ops::Conv2dOptions RandomOptions(OddShapes& draw, int64_t groups, int64_t kernel) {
  ops::Conv2dOptions options;
  options.groups = groups;
  if (kernel == 1) return options;
  options.stride = {draw.Size(2), draw.Size(2)};
  options.padding = {kernel / 2, kernel / 2};
  return options;
}

}  // namespace

void AddLayer(ConvChainCase& chain, OddShapes& draw, int64_t in, int64_t out, int64_t kernel,
              bool depthwise) {
  const int64_t group = depthwise ? 1 : in;
  Tensor weight = draw.Normal({out, kernel, kernel, group});
  ScaleInPlace(weight, 1 / std::sqrt(static_cast<double>(kernel * kernel * group)));
  chain.weights.push_back(weight);
  chain.norm_weights.push_back(draw.Uniform({out}, 0.5, 2));
  chain.norm_biases.push_back(draw.Normal({out}));
  chain.options.push_back(RandomOptions(draw, depthwise ? in : 1, kernel));
  chain.activations.push_back(draw.Coin()   ? Activation::kRelu6
                              : draw.Coin() ? Activation::kRelu
                                            : Activation::kNone);
}

ConvChainCase RandomChain(OddShapes& draw, bool expand) {
  ConvChainCase chain;
  if (expand) chain.expand_bytes = 0;
  int64_t channels = draw.Size(expand ? 9 : 19);
  chain.x = draw.Normal({draw.Size(3, 2), draw.Size(13, 3), draw.Size(13, 3), channels});
  if (expand) {
    const int64_t out = 3 * channels + draw.Size(17);
    AddLayer(chain, draw, channels, out, 1, false), channels = out;
    AddLayer(chain, draw, channels, out, 3, true);
  } else if (draw.Coin()) {
    const int64_t out = draw.Size(17);
    AddLayer(chain, draw, channels, out, 3, false), channels = out;
  }
  const int64_t more = draw.Size(3);
  for (int64_t l = 0; l < more; ++l) {
    const bool depthwise = draw.Coin();
    const int64_t out = depthwise ? channels : draw.Size(37);
    AddLayer(chain, draw, channels, out, depthwise ? 3 : 1, depthwise), channels = out;
  }
  const Shape y = [&] {
    Shape shape = chain.x.shape();
    for (size_t l = 0; l < chain.weights.size(); ++l) {
      const auto g = ops::ConvGeometryOf(shape, chain.weights[l].shape(), chain.options[l]);
      shape = {g.n, g.oh, g.ow, g.o};
    }
    return shape;
  }();
  chain.residual = y == chain.x.shape();
  if (chain.residual) chain.activations.back() = Activation::kNone;
  chain.dy = draw.Normal(y);
  return chain;
}

ConvChainResults RunChain(const ConvChainCase& chain, DType dtype) {
  std::vector<Variable> leaves;
  const auto leaf = [&](const Tensor& t) {
    leaves.emplace_back(t.To(dtype), true);
    return leaves.back();
  };
  const Variable x = leaf(chain.x);
  std::vector<ConvNorm> layers;
  for (size_t l = 0; l < chain.weights.size(); ++l) {
    const Variable weight = leaf(chain.weights[l]), scale = leaf(chain.norm_weights[l]);
    layers.push_back(
        {weight, chain.options[l], scale, leaf(chain.norm_biases[l]), 1e-2, chain.activations[l]});
  }
  const auto result = ConvChainTrain(x, layers, chain.residual, chain.expand_bytes);
  Backward({result.y}, {chain.dy.To(dtype)});
  ConvChainResults out{result.y.data(), {}, {}};
  for (const Variable& v : leaves) out.gradients.push_back(v.grad());
  for (const auto& s : result.statistics)
    out.statistics.insert(out.statistics.end(), {s.mean, s.var});
  return out;
}

}  // namespace torus::testing
