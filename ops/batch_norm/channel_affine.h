// Argument structs of batch norm's kernels.
#pragma once

#include <cstdint>

#include "ops/batch_norm/activation.h"
#include "runtime/tensor.h"

namespace torus::ops {

// A normalisation with its statistics folded in, one value per channel: y = (x - mean) scale +
// bias, with scale = weight inv_std. All in the dtype of x, inv_std in f64; `var` is the variance,
// which is folded in.
struct ChannelAffine {
  ChannelAffine(int64_t channels, DType dtype, Device device)
      : mean({channels}, dtype, device),
        var({channels}, dtype, device),
        scale({channels}, dtype, device),
        bias({channels}, dtype, device),
        inv_std({channels}, DType::kF64, device) {}
  Tensor mean, var, scale, bias, inv_std;
};

// Inputs of the backward besides dy. With both a residual and an activation, the activation's mask
// cannot be computed from x alone: it needs y, or, in 16 bits, the residual, since y was rounded.
// Exactly one of y and residual is then defined, otherwise neither. `count` is the number of values
// per channel, or 0 if the statistics are constants.
struct NormBackwardInputs {
  Tensor x, y, residual;
  const ChannelAffine& affine;
  Activation activation;
  int64_t count;
};

// The update of a layer's running statistics: running = (1 - momentum) running + momentum batch.
// The batch's variance is first multiplied by `unbias`. Adds 1 to `batches`, i64, unless it is
// undefined. There is at least one channel.
struct RunningUpdate {
  Tensor mean, var;  // of the batch; f32 or f64
  double unbias = 1, momentum = 0;
  Tensor running_mean, running_var, batches;
};

// The gradients, overwritten; undefined ones are not computed. `masked` is dy through the
// activation's mask, which is the residual's gradient; defined if y or the residual is.
struct NormGradients {
  Tensor x, weight, bias, masked;
};

}  // namespace torus::ops
