// Group norm (Wu and He 2018) and instance norm (Ulyanov, Vedaldi and Lempitsky 2016) over
// channels-last data, as torch.nn.functional.group_norm and instance_norm; composed of layer norm's
// kernels and views.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// (x - mean) / sqrt(var + eps) * weight + bias of x (N, ..., C), with mean and biased variance of
// each sample's num_groups groups of C / num_groups neighbouring channels. weight and bias are (C),
// or undefined (ones and zeros). Any floating dtype, of all alike; under a WithPrecision they may
// differ, and the result has that of the layer norm, or what it has times weight and plus bias. Any
// strides. Throws BadInput if num_groups does not divide C, for shapes or dtypes that do not fit,
// and, as PyTorch does, for an x whose groups have one value in all.
Variable GroupNorm(const Variable& x, int64_t num_groups, const Variable& weight = {},
                   const Variable& bias = {}, double eps = 1e-5);

// The same with groups of one channel each. Throws BadInput for x (N, C), without a dimension
// between, and if a channel of a sample has one value.
Variable InstanceNorm(const Variable& x, const Variable& weight = {}, const Variable& bias = {},
                      double eps = 1e-5);

// What instance norm in training adds to running statistics (UpdateRunningStatistics of
// batch_norm.h): means over the samples of each channel's mean and biased variance.
struct InstanceStatistics {
  Tensor mean, var;   // (C)
  int64_t count = 0;  // values of a channel of a sample
};
// Of x as InstanceNorm takes it. Records no graph.
InstanceStatistics StatisticsOfInstances(const Variable& x);

}  // namespace torus::ops
