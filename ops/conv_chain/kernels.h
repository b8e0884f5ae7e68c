// The kernels of the fused chain. Only CPUs have them; on other devices the op is composed of
// convolutions and batch norms.
#pragma once

#include <vector>

#include "autograd/op_observer.h"
#include "ops/conv_chain/cpu/conv_chain.h"
#include "runtime/dispatch.h"

namespace torus::kernels {

// One convolution with its norm and activation, and what its forward saves for the backward.
using cpu::ChainLayer;
// Contiguous f32 tensors; norm weights and biases may be undefined (ones and zeros).
using cpu::ChainInputs;
// Contiguous f32 tensors, overwritten; undefined ones are not computed.
using cpu::ChainInputGradients;
// Mean and biased variance of a layer's norm.
using cpu::ChainStatistics;

inline bool FusesChains(Device device) { return device.kind == DeviceKind::kCpu; }

inline ChainLayer MakeChainLayer(const ops::ConvGeometry& g, ops::Activation activation,
                                 double eps) {
  return cpu::MakeChainLayer(g, activation, eps);
}

// Runs the chain. Writes y, the last layer's activation (of its output + x, with a residual), and
// fills the layers.
inline std::vector<ChainStatistics> ConvChainForward(std::vector<ChainLayer>& layers,
                                                     const ChainInputs& in, Tensor& y) {
  for (const ChainLayer& layer : layers) ObserveProduct(layer.g.flops());
  std::vector<ChainStatistics> statistics;
  Dispatch("conv_chain", y.device(), [&] { statistics = cpu::ConvChainForward(layers, in, y); });
  return statistics;
}

// Computes all gradients in one pass from the last layer to the first. With a residual, adds dy to
// the gradient of x.
inline void ConvChainBackward(const std::vector<ChainLayer>& layers, const ChainInputs& in,
                              const Tensor& dy, ChainInputGradients& out) {
  for (size_t l = 0; l < layers.size(); ++l) {
    if (l > 0 || out.x.defined()) ObserveProduct(layers[l].g.flops());
    if (out.weights[l].defined()) ObserveProduct(layers[l].g.flops());
  }
  Dispatch("conv_chain", dy.device(), [&] { cpu::ConvChainBackward(layers, in, dy, out); });
}

}  // namespace torus::kernels
