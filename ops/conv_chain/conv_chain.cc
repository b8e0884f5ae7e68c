#include "ops/conv_chain/conv_chain.h"

#include <memory>
#include <utility>

#include "autograd/node.h"
#include "autograd/precision.h"
#include "autograd/saved_activation.h"
#include "ops/conv_chain/kernels.h"
#include "ops/convolution/convolution.h"
#include "ops/precision/in_precision.h"

namespace torus::ops {
namespace {

using kernels::ChainLayer;

ConvChainResult Compose(const Variable& x, const std::vector<ConvNorm>& layers, bool residual) {
  ConvChainResult out;
  out.y = x;
  for (size_t l = 0; l < layers.size(); ++l) {
    const ConvNorm& layer = layers[l];
    const Variable z = Conv2d(out.y, layer.weight, {}, layer.convolution);
    const Variable add = residual && l + 1 == layers.size() ? x : Variable();
    BatchNormResult norm =
        BatchNormTrain(z, layer.norm_weight, layer.norm_bias, layer.eps, layer.activation, add);
    out.y = norm.y;
    out.statistics.push_back({norm.mean, norm.var, norm.count});
  }
  return out;
}

Device DeviceOf(const Variable& x, const std::vector<ConvNorm>& layers) {
  for (const ConvNorm& layer : layers)
    if (CommonDevice("conv_chain", x.data(), layer.weight.data()) == kMetaDevice)
      return kMetaDevice;
  return x.data().device();
}

// Whether the dtypes allow fusing: f32, or, under native bf16, f32 and bf16. In the latter case a
// chain with a 1 x 1 or depthwise layer is still fused in f32: composed of bf16 ops it would
// multiply faster but take twice as long, since passes over memory bound it. A single dense
// convolution and its norm are composed.
bool TypesFit(const Variable& x, const std::vector<ConvNorm>& layers) {
  if (WithPrecision::Current() == DType::kF32) return x.dtype() == DType::kF32;
  if (!WithPrecision::Native() || (x.dtype() != DType::kF32 && x.dtype() != DType::kBF16))
    return false;
  const ConvNorm& first = layers[0];
  const ConvGeometry g = ConvGeometryOf(x.shape(), first.weight.shape(), first.convolution);
  return layers.size() > 1 || g.pointwise() || g.depthwise();
}

// The layers with their geometry; empty if the chain cannot be fused.
std::vector<ChainLayer> Plan(const Variable& x, const std::vector<ConvNorm>& layers,
                             bool residual) {
  if (!kernels::FusesChains(DeviceOf(x, layers)) || !TypesFit(x, layers) ||
      (residual && layers.back().activation != Activation::kNone))
    return {};
  std::vector<ChainLayer> plan;
  Shape shape = x.shape();
  for (const ConvNorm& layer : layers) {
    const ConvGeometry g = ConvGeometryOf(shape, layer.weight.shape(), layer.convolution);
    const bool fits = layer.weight.dtype() == DType::kF32 && g.output_rows() > 1 && g.c > 0 &&
                      (g.pointwise() || g.depthwise() || plan.empty());
    if (!fits) return {};
    shape = {g.n, g.oh, g.ow, g.o};
    plan.push_back(kernels::MakeChainLayer(g, layer.activation, layer.eps));
  }
  return !residual || shape == x.shape() ? plan : std::vector<ChainLayer>();
}

bool NormFits(const Variable& parameter, int64_t channels) {
  return !parameter.defined() ||
         (parameter.shape() == Shape{channels} && parameter.dtype() == DType::kF32);
}

Tensor ContiguousOf(const Variable& v) { return v.defined() ? v.data().Contiguous() : Tensor(); }

// Input 0 is x; layer l has inputs 3 l + 1 .. 3 l + 3.
std::vector<Variable> InputsOf(const Variable& x, const std::vector<ConvNorm>& layers) {
  std::vector<Variable> inputs{x};
  for (const ConvNorm& layer : layers)
    inputs.insert(inputs.end(), {layer.weight, layer.norm_weight, layer.norm_bias});
  return inputs;
}

struct ForBackward {
  std::vector<ChainLayer> layers;  // without their z
  SavedActivation x;
  std::vector<SavedActivation> z;
  std::vector<Saved> weights;
  bool residual;
};

Gradients Rule(const ForBackward& saved, const GradContext& context) {
  std::vector<ChainLayer> layers = saved.layers;
  kernels::ChainInputs in{.x = saved.x.get(), .residual = saved.residual};
  kernels::ChainInputGradients out;
  const Device device = context.grad().device();
  const auto wanted = [&](size_t i, const Shape& shape) {
    return context.wants(static_cast<int>(i)) ? Tensor(shape, DType::kF32, device) : Tensor();
  };
  out.x = wanted(0, in.x.shape());
  for (size_t l = 0; l < layers.size(); ++l) {
    layers[l].z = saved.z[l].get();
    in.weights.push_back(saved.weights[l].get());
    const Shape channels{layers[l].g.o};
    out.weights.push_back(wanted(3 * l + 1, in.weights[l].shape()));
    out.norm_weights.push_back(wanted(3 * l + 2, channels));
    out.norm_biases.push_back(wanted(3 * l + 3, channels));
  }
  kernels::ConvChainBackward(layers, in, context.grad(), out);
  Gradients gradients{out.x};
  for (size_t l = 0; l < layers.size(); ++l)
    gradients.insert(gradients.end(), {out.weights[l], out.norm_weights[l], out.norm_biases[l]});
  return gradients;
}

ConvChainResult Fused(const Variable& x, const std::vector<ConvNorm>& layers, bool residual,
                      int64_t expand_bytes, std::vector<ChainLayer> plan) {
  kernels::ChainInputs in{
      .x = x.data().Contiguous(), .residual = residual, .expand_bytes = expand_bytes};
  for (const ConvNorm& layer : layers) {
    in.weights.push_back(ContiguousOf(layer.weight));
    in.norm_weights.push_back(ContiguousOf(layer.norm_weight));
    in.norm_biases.push_back(ContiguousOf(layer.norm_bias));
  }
  const ConvGeometry& g = plan.back().g;
  Tensor y({g.n, g.oh, g.ow, g.o}, DType::kF32, in.x.device());
  ConvChainResult out;
  const auto statistics = kernels::ConvChainForward(plan, in, y);
  auto saved = std::make_shared<ForBackward>();
  saved->x = SavedActivation(in.x);
  saved->residual = residual;
  for (size_t l = 0; l < layers.size(); ++l) {
    out.statistics.push_back({statistics[l].mean, statistics[l].var, plan[l].rows()});
    saved->z.emplace_back(std::exchange(plan[l].z, {}));
    saved->weights.emplace_back(in.weights[l]);
  }
  saved->layers = std::move(plan);
  out.y = Record("conv_chain", y, InputsOf(x, layers),
                 [saved](const GradContext& context) { return Rule(*saved, context); });
  return out;
}

}  // namespace

ConvChainResult ConvChainTrain(const Variable& x, const std::vector<ConvNorm>& layers,
                               bool residual, int64_t expand_bytes) {
  Require(!layers.empty(), "conv_chain", "needs at least one layer");
  std::vector<ChainLayer> plan = Plan(x, layers, residual);
  for (size_t l = 0; l < plan.size(); ++l)
    if (plan[l].rows() < 2 || !NormFits(layers[l].norm_weight, plan[l].g.o) ||
        !NormFits(layers[l].norm_bias, plan[l].g.o))
      plan.clear();
  if (plan.empty()) return Compose(x, layers, residual);
  // Computes in f32 whatever the precision; inputs and outputs keep their dtype.
  const DType low = WithPrecision::Current();
  ConvChainResult result =
      Fused(internal::CastTo(x, DType::kF32), layers, residual, expand_bytes, std::move(plan));
  result.y = internal::CastTo(result.y, low);
  return result;
}

}  // namespace torus::ops
