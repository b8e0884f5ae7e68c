// The cost of a layer's forward, counted by observing its ops on the meta device.
#pragma once

#include <cstdint>
#include <vector>

#include "models/nn/module.h"

namespace torus::nn {

// What a forward of a layer costs, in floating-point operations and bytes.
struct LayerCost {
  Shape output;                  // of the activation
  int64_t flops = 0;             // of convolutions and matrix products; a multiply-add is two
  int64_t activation_bytes = 0;  // of all floating-point outputs of its ops, except views

  int64_t output_bytes = 0;  // of all its outputs

  // The cost of this layer followed by `next`: FLOPs and activations add; the outputs are those of
  // `next`.
  LayerCost Then(const LayerCost& next) const {
    return {next.output, flops + next.flops, activation_bytes + next.activation_bytes,
            next.output_bytes};
  }
};

// Runs `layer` in training mode on `values`, which are on the meta device, and replaces them by its
// outputs. Fused chains of convolutions run layer by layer there (conv_norm.h), so their inner
// activations count too. A batch too small for training (one value per channel for batch norm) is
// counted in evaluation mode, where norms have outputs of the same size. Throws the errors of the
// ops.
LayerCost CostOf(Module& layer, std::vector<Variable>& values);

}  // namespace torus::nn
