// What a forward of a layer costs, counted by observing its ops on the device meta.
#pragma once

#include <cstdint>
#include <vector>

#include "models/nn/module.h"

namespace torus::nn {

struct LayerCost {
  Shape output;                  // of the activation
  int64_t flops = 0;             // of convolutions and matrix products, a multiply-add being two
  int64_t activation_bytes = 0;  // of all floating-point tensors that its ops put out; not of views

  int64_t output_bytes = 0;  // of all its outputs

  // This layer and then `next`: both sums, and the outputs of `next`.
  LayerCost Then(const LayerCost& next) const {
    return {next.output, flops + next.flops, activation_bytes + next.activation_bytes,
            next.output_bytes};
  }
};

// Runs `layer` in training mode on `values`, which are on meta, and replaces them by its outputs.
// Fused chains of convolutions run layer by layer there (conv_norm.h), so their inner activations
// count too. A batch too small to train on (for batch norm, one value a channel) is counted in
// evaluation mode, where norms put out as much. Errors are those of the ops.
LayerCost CostOf(Module& layer, std::vector<Variable>& values);

}  // namespace torus::nn
