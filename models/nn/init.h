// How a parameter gets its first values.
#pragma once

#include <functional>

#include "runtime/rng.h"
#include "runtime/tensor.h"

namespace torus::nn {

// Fills a contiguous f32 or f64 tensor; element i takes random number i of the stream.
using Initializer = std::function<void(Tensor& out, const RandomStream& stream)>;

Initializer Constant(double value);

Initializer Normal(double mean, double stddev);

// He et al. 2015, "Delving deep into rectifiers", equation 14 (the backward case): normal with variance 2 / fan_out, where a
// convolution weight (O, kH, kW, I / groups) has fan_out = O kH kW and a linear one (O, I) has O. PyTorch's
// kaiming_normal_(mode="fan_out"), which likewise does not divide by the groups. BadInput for other ranks.
Initializer KaimingNormalFanOut();

}  // namespace torus::nn
