#include "models/nn/conv_norm.h"

namespace torus::nn {
namespace {

Variable Train(const Variable& x, const StepContext& ctx, const std::vector<ConvNorm>& layers,
               bool residual) {
  std::vector<ops::ConvNorm> chain;
  for (const ConvNorm& layer : layers) {
    layer.convolution->RequireValues("conv2d", x);
    layer.norm->RequireValues("batch_norm", x);
    chain.push_back({.weight = layer.convolution->weight(),
                     .convolution = layer.convolution->geometry(),
                     .norm_weight = layer.norm->weight(),
                     .norm_bias = layer.norm->bias(),
                     .eps = layer.norm->options().eps,
                     .activation = layer.activation});
  }
  const ops::ConvChainResult result = ops::ConvChainTrain(x, chain, residual);
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto& [mean, var, count] = result.statistics[i];
    layers[i].norm->Keep(ctx, {mean, var, count});
  }
  return result.y;
}

}  // namespace

Conv2dOptions BeforeNorm(Conv2dOptions convolution) {
  convolution.bias = false;
  if (!convolution.weight_init) convolution.weight_init = KaimingNormalFanOut();
  return convolution;
}

Variable RunChain(const Variable& x, const StepContext& ctx, const std::vector<ConvNorm>& layers,
                  bool residual) {
  // On the meta device nothing is computed, and observers of ops must see each layer. The fused op
  // does not support statistics over replicas.
  const bool fused = ctx.training && !ctx.gather_replicas && x.data().device() != kMetaDevice;
  if (fused) return Train(x, ctx, layers, residual);
  Variable y = x;
  for (size_t i = 0; i < layers.size(); ++i) {
    const Variable add = residual && i + 1 == layers.size() ? x : Variable();
    y = layers[i].norm->Forward(layers[i].convolution->Forward(y, ctx), ctx, add,
                                layers[i].activation);
  }
  return y;
}

}  // namespace torus::nn
