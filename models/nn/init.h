// Initial values of parameters.
#pragma once

#include <functional>
#include <optional>

#include "runtime/rng.h"
#include "runtime/tensor.h"

namespace torus::nn {

// Fills a contiguous f32 or f64 tensor; element i uses random number i of the stream.
using Initializer = std::function<void(Tensor& out, const RandomStream& stream)>;

// `value` everywhere.
Initializer Constant(double value);

// Normal with this mean and standard deviation.
Initializer Normal(double mean, double stddev);

// Uniform in [low, high).
Initializer Uniform(double low, double high);

// PyTorch's default for linear and convolution layers, weight and bias alike: uniform within
// 1 / sqrt(fan_in) of zero, where fan_in is the number of inputs of one output.
Initializer UniformFanIn(int64_t fan_in);

// Normal with mean 0, except that row `zero_row`, if given, is zero: for an embedding with a
// padding index.
Initializer NormalRows(double stddev, std::optional<int64_t> zero_row);

// Glorot & Bengio 2010, equation 16 as a normal: variance 2 / (fan_in + fan_out) of a weight (O,
// I).
Initializer XavierNormal();

// The same as a uniform: within sqrt(6 / (fan_in + fan_out)) of zero.
Initializer XavierUniform();

// He et al. 2015, "Delving deep into rectifiers", equation 14 (the backward case): normal with
// variance 2 / fan_out, where a convolution weight (O, kH, kW, I / groups) has fan_out = O kH kW
// and a linear one (O, I) has O. PyTorch's kaiming_normal_(mode="fan_out"), which likewise does not
// divide by the groups. Throws BadInput for other ranks.
Initializer KaimingNormalFanOut();

// The same paper, equation 10 (the forward case): variance 2 / fan_in, where fan_in is the number
// of inputs of one output. PyTorch's default mode.
Initializer KaimingNormalFanIn();

}  // namespace torus::nn
