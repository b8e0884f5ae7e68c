// Dropout of whole parts of a sample: its channels, or all of it. Random numbers and errors are
// those of dropout.h; composed of Dropout, which drops elements of a small tensor of ones, and Mul.
#pragma once

#include "autograd/variable.h"
#include "runtime/step_context.h"

namespace torus::ops {

// Sets whole channels of images (N, H, W, C) to zero with probability p and scales the others by
// 1 / (1 - p), as torch.nn.functional.dropout2d (Tompson et al. 2015, section 3.2). Word c of a
// sample's stream decides its channel c. Throws BadInput tagged dropout2d for another rank.
Variable Dropout2d(const Variable& input, double p, const StepContext& context, uint64_t layer);

// What StochasticDepth drops as one: each sample, or the batch.
enum class DepthMode { kRow, kBatch };

// Sets what a residual branch adds to zero with probability p and scales it by 1 / (1 - p)
// otherwise (Huang et al. 2016, "Deep networks with stochastic depth"), as
// torchvision.ops.stochastic_depth. Input (N, ...). In mode kBatch one word decides for the whole
// mini-batch, the same for all micro-batches and replicas. Throws BadInput tagged stochastic_depth
// for a scalar.
Variable StochasticDepth(const Variable& input, double p, DepthMode mode,
                         const StepContext& context, uint64_t layer);

}  // namespace torus::ops
