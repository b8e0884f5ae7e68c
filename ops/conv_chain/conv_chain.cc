#include "ops/conv_chain/conv_chain.h"

#include <limits>
#include <memory>
#include <utility>

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/conv_chain/chain_layer.h"
#include "ops/convolution/convolution.h"

namespace torus::ops {
namespace {

using cpu::ChainKind;
using cpu::ChainLayer;

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

// The layers with their geometry; empty where the chain cannot be fused.
std::vector<ChainLayer> Plan(const Variable& x, const std::vector<ConvNorm>& layers,
                             bool residual) {
  if (x.dtype() != DType::kF32 || (residual && layers.back().activation != Activation::kNone))
    return {};
  std::vector<ChainLayer> plan;
  Shape shape = x.shape();
  for (const ConvNorm& layer : layers) {
    const cpu::ConvGeometry g = cpu::ConvGeometryOf(shape, layer.weight.shape(), layer.convolution);
    const ChainKind kind = g.pointwise()   ? ChainKind::kPointwise
                           : g.depthwise() ? ChainKind::kDepthwise
                                           : ChainKind::kDense;
    const bool fits = layer.weight.dtype() == DType::kF32 && g.output_rows() > 1 && g.c > 0 &&
                      (kind != ChainKind::kDense || plan.empty());
    if (!fits) return {};
    shape = {g.n, g.oh, g.ow, g.o};
    plan.push_back({g, kind, ClampOf(layer.activation), layer.eps, {}, {}, {}, {}, {}});
  }
  return !residual || shape == x.shape() ? plan : std::vector<ChainLayer>();
}

bool NormFits(const Variable& parameter, int64_t channels) {
  return !parameter.defined() ||
         (parameter.shape() == Shape{channels} && parameter.dtype() == DType::kF32);
}

const float* PointerOf(const Tensor& tensor) {
  return tensor.defined() ? tensor.data<float>() : nullptr;
}

Tensor ContiguousOf(const Variable& v) { return v.defined() ? v.data().Contiguous() : Tensor(); }

// Input 0 is x; layer l has inputs 3 l + 1 .. 3 l + 3.
std::vector<Variable> InputsOf(const Variable& x, const std::vector<ConvNorm>& layers) {
  std::vector<Variable> inputs{x};
  for (const ConvNorm& layer : layers)
    inputs.insert(inputs.end(), {layer.weight, layer.norm_weight, layer.norm_bias});
  return inputs;
}

struct Kept {
  std::vector<ChainLayer> layers;  // without their z
  SavedActivation x;
  std::vector<SavedActivation> z;
  std::vector<Saved> weights;
  bool residual;
};

Gradients Rule(const Kept& kept, const GradContext& context) {
  std::vector<ChainLayer> layers = kept.layers;
  const size_t count = layers.size();
  Gradients out(3 * count + 1);
  cpu::ChainGradients to;
  const auto wanted = [&](size_t i, const Shape& shape) -> float* {
    if (!context.wants(static_cast<int>(i))) return nullptr;
    out[i] = Tensor(shape, DType::kF32);
    return out[i].mutable_data<float>();
  };
  const Tensor x = kept.x.get();
  to.x = wanted(0, x.shape());
  std::vector<const float*> weights;
  for (size_t l = 0; l < count; ++l) {
    layers[l].z = kept.z[l].get();
    const Shape channels{layers[l].g.o};
    weights.push_back(kept.weights[l].get().data<float>());
    to.weights.push_back(wanted(3 * l + 1, kept.weights[l].get().shape()));
    to.norm_weights.push_back(wanted(3 * l + 2, channels));
    to.norm_biases.push_back(wanted(3 * l + 3, channels));
  }
  cpu::ChainBackward(layers, x.data<float>(), weights, context.grad().data<float>(), kept.residual,
                     to);
  return out;
}

Tensor FromDoubles(const std::vector<double>& values) {
  return FromVector(std::vector<float>(values.begin(), values.end()), {std::ssize(values)});
}

ConvChainResult Fused(const Variable& x, const std::vector<ConvNorm>& layers, bool residual,
                      std::vector<ChainLayer> plan) {
  const Tensor image = x.data().Contiguous();
  std::vector<Tensor> tensors;
  std::vector<const float*> weights, norm_weights, norm_biases;
  for (const ConvNorm& layer : layers) {
    for (const Variable& v : {layer.weight, layer.norm_weight, layer.norm_bias})
      tensors.push_back(ContiguousOf(v));
    const Tensor* last = &tensors.back();
    weights.push_back(last[-2].data<float>());
    norm_weights.push_back(PointerOf(last[-1]));
    norm_biases.push_back(PointerOf(last[0]));
  }
  const cpu::ConvGeometry& g = plan.back().g;
  Tensor y({g.n, g.oh, g.ow, g.o}, DType::kF32);
  cpu::ChainForward(plan, image.data<float>(), weights, norm_weights, norm_biases,
                    residual ? image.data<float>() : nullptr, y.mutable_data<float>());
  ConvChainResult out;
  for (const ChainLayer& layer : plan)
    out.statistics.push_back({FromDoubles(layer.mean), FromDoubles(layer.variance), layer.rows()});
  auto kept = std::make_shared<Kept>();
  kept->x = SavedActivation(image);
  kept->residual = residual;
  for (size_t l = 0; l < layers.size(); ++l) {
    kept->z.emplace_back(std::exchange(plan[l].z, {}));
    kept->weights.emplace_back(tensors[3 * l]);
  }
  kept->layers = std::move(plan);
  out.y = Record("conv_chain", y, InputsOf(x, layers),
                 [kept](const GradContext& context) { return Rule(*kept, context); });
  return out;
}

}  // namespace

ConvChainResult ConvChainTrain(const Variable& x, const std::vector<ConvNorm>& layers,
                               bool residual) {
  Require(!layers.empty(), "conv_chain", "needs at least one layer");
  std::vector<ChainLayer> plan = Plan(x, layers, residual);
  for (size_t l = 0; l < plan.size(); ++l)
    if (!NormFits(layers[l].norm_weight, plan[l].g.o) ||
        !NormFits(layers[l].norm_bias, plan[l].g.o))
      plan.clear();
  return plan.empty() ? Compose(x, layers, residual) : Fused(x, layers, residual, std::move(plan));
}

}  // namespace torus::ops
