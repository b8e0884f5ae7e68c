#include "ops/conv_chain/cpu/conv_chain.h"

#include "ops/cpu/elements.h"

namespace torus::cpu {
namespace {

std::vector<const float*> PointersOf(const std::vector<Tensor>& tensors) {
  std::vector<const float*> pointers;
  for (const Tensor& tensor : tensors) pointers.push_back(ElementsOrNull<float>(tensor));
  return pointers;
}

std::vector<float*> OutputsOf(std::vector<Tensor>& tensors) {
  std::vector<float*> pointers;
  for (Tensor& tensor : tensors) pointers.push_back(MutableElementsOrNull<float>(tensor));
  return pointers;
}

ChainKind KindOf(const ConvGeometry& g) {
  if (g.pointwise()) return ChainKind::kPointwise;
  return g.depthwise() ? ChainKind::kDepthwise : ChainKind::kDense;
}

Tensor FromDoubles(const std::vector<double>& values) {
  return FromVector(std::vector<float>(values.begin(), values.end()), {std::ssize(values)});
}

}  // namespace

ChainLayer MakeChainLayer(const ConvGeometry& g, ops::Activation activation, double eps) {
  return {g, KindOf(g), ClampOf(activation), eps, {}, {}, {}, {}, {}};
}

std::vector<ChainStatistics> ConvChainForward(std::vector<ChainLayer>& layers,
                                              const ChainInputs& in, Tensor& y) {
  const float* const x = in.x.data<float>();
  ChainForward(layers, x, PointersOf(in.weights), PointersOf(in.norm_weights),
               PointersOf(in.norm_biases), in.residual ? x : nullptr, in.expand_bytes,
               y.mutable_data<float>());
  std::vector<ChainStatistics> statistics;
  for (const ChainLayer& layer : layers)
    statistics.push_back({FromDoubles(layer.mean), FromDoubles(layer.variance)});
  return statistics;
}

void ConvChainBackward(const std::vector<ChainLayer>& layers, const ChainInputs& in,
                       const Tensor& dy, ChainInputGradients& out) {
  ChainBackward(layers, in.x.data<float>(), PointersOf(in.weights), dy.data<float>(), in.residual,
                {.x = MutableElementsOrNull<float>(out.x),
                 .weights = OutputsOf(out.weights),
                 .norm_weights = OutputsOf(out.norm_weights),
                 .norm_biases = OutputsOf(out.norm_biases)});
}

}  // namespace torus::cpu
