// The kernels of batch norm, on the device of their tensors. x is contiguous, (..., C), f32 or f64;
// a row runs along its last dimension. Per-channel tensors are (C). On a GPU x, the residual, y and
// their gradients may all be bf16 or f16: values are computed in f32 and rounded once, and
// per-channel tensors are f32.
#pragma once

#include "ops/batch_norm/channel_affine.h"
#include "runtime/kernel_table.h"

namespace torus {

// Computes mean and biased variance of each channel, f64.
TORUS_KERNEL(ChannelStatistics, "batch_norm", mean.device(),
             (const Tensor& x, Tensor& mean, Tensor& var), (x, mean, var));

// Fills `affine` for y = (x - mean) / sqrt(var + eps) * weight + bias; mean and var are f64; weight
// and bias may be undefined (ones and zeros).
TORUS_KERNEL(FoldChannels, "batch_norm", affine.mean.device(),
             (const Tensor& mean, const Tensor& var, double eps, const Tensor& weight,
              const Tensor& bias, ops::ChannelAffine& affine),
             (mean, var, eps, weight, bias, affine));

// Fills `affine` likewise, for the statistics of x, which has at least one row.
TORUS_KERNEL(FoldStatistics, "batch_norm", x.device(),
             (const Tensor& x, double eps, const Tensor& weight, const Tensor& bias,
              ops::ChannelAffine& affine),
             (x, eps, weight, bias, affine));

// y = activation(affine(x) + residual); the residual may be undefined.
TORUS_KERNEL(NormalizeChannels, "batch_norm", y.device(),
             (const Tensor& x, const ops::ChannelAffine& affine, ops::Activation activation,
              const Tensor& residual, Tensor& y),
             (x, affine, activation, residual, y));

// The gradients, for statistics of x alone or constant ones.
TORUS_KERNEL(BatchNormBackward, "batch_norm", dy.device(),
             (const ops::NormBackwardInputs& in, const Tensor& dy, ops::NormGradients& out),
             (in, dy, out));

// The first half of it, for statistics that replicas share. Writes the masked dy to `masked`, if
// defined, and to sums (2, C), f64, the sums over this replica's rows of the masked dy and of the
// masked dy times (x - mean).
TORUS_KERNEL(SumGradients, "batch_norm", dy.device(),
             (const ops::NormBackwardInputs& in, const Tensor& dy, Tensor& masked, Tensor& sums),
             (in, dy, masked, sums));

// The second half. The gradients of weight and bias use this replica's sums; that of x uses the
// sums over all replicas that share the statistics, whose values `in.count` counts.
TORUS_KERNEL(NormalizeChannelsBackward, "batch_norm", dy.device(),
             (const ops::NormBackwardInputs& in, const Tensor& dy, const Tensor& own_sums,
              const Tensor& all_sums, ops::NormGradients& out),
             (in, dy, own_sums, all_sums, out));

// Makes these updates of layers on one device, of which there is at least one; on a GPU all those
// of the same types in one launch.
TORUS_KERNEL(UpdateRunningStatistics, "batch_norm", updates.front().running_mean.device(),
             (std::vector<ops::RunningUpdate> & updates), (updates));

// mean and var, of `count` values per channel, become those of these and `more` values together;
// all f64.
TORUS_KERNEL(MergeStatistics, "batch_norm", mean.device(),
             (const Tensor& more_mean, const Tensor& more_var, int64_t more, Tensor& mean,
              Tensor& var, int64_t count),
             (more_mean, more_var, more, mean, var, count));

}  // namespace torus
