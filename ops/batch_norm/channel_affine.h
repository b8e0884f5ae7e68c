// What is asked of a device in batch norm's calls, where it is more than a few tensors.
#pragma once

#include <cstdint>

#include "ops/batch_norm/activation.h"
#include "runtime/tensor.h"

namespace torus::ops {

// A normalisation with its statistics folded in, one value a channel: y = (x - mean) scale + bias,
// with scale = weight inv_std. All in the dtype of x, inv_std in f64.
struct ChannelAffine {
  ChannelAffine(int64_t channels, DType dtype, Device device)
      : mean({channels}, dtype, device),
        scale({channels}, dtype, device),
        bias({channels}, dtype, device),
        inv_std({channels}, DType::kF64, device) {}
  Tensor mean, scale, bias, inv_std;
};

// What the backward reads beside dy. Where a residual and an activation meet, the mask follows from
// more than x: from y, or, of 16 bits, from x and the residual, since such a y was rounded. One of
// the two is then defined, otherwise neither. `count` is the values a channel, 0 where the
// statistics are constants.
struct NormBackwardInputs {
  Tensor x, y, residual;
  const ChannelAffine& affine;
  Activation activation;
  int64_t count;
};

// The gradients, overwritten; an undefined one is not wanted. `masked` is dy through the
// activation's mask, defined where y or the residual is, whose gradient it is.
struct NormGradients {
  Tensor x, weight, bias, masked;
};

}  // namespace torus::ops
