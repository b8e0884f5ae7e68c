// The kernels of batch norm, on the device of their tensors. x is contiguous, (..., C), f32 or f64;
// a row runs along its last dimension. Per-channel tensors are (C). On a GPU x, the residual, y and
// their gradients may all be bf16 or f16: values are computed in f32 and rounded once, and
// per-channel tensors are f32.
#pragma once

#include "ops/batch_norm/channel_affine.h"
#include "ops/batch_norm/cpu/batch_norm.h"
#include "ops/batch_norm/cpu/merge_statistics.h"
#include "ops/batch_norm/cuda/batch_norm.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

using ops::ChannelAffine;

// Computes mean and biased variance of each channel, f64.
inline void ChannelStatistics(const Tensor& x, Tensor& mean, Tensor& var) {
  AtDoor(
      "batch_norm", mean.device(), [&] { cpu::ChannelStatistics(x, mean, var); },
      [&](StreamHandle stream) { cuda::ChannelStatistics(x, mean, var, stream); });
}

// Fills `affine` for y = (x - mean) / sqrt(var + eps) * weight + bias; mean and var are f64; weight
// and bias may be undefined (ones and zeros).
inline void FoldChannels(const Tensor& mean, const Tensor& var, double eps, const Tensor& weight,
                         const Tensor& bias, ChannelAffine& affine) {
  AtDoor(
      "batch_norm", affine.mean.device(),
      [&] { cpu::FoldChannels(mean, var, eps, weight, bias, affine); },
      [&](StreamHandle stream) {
        cuda::FoldChannels(mean, var, eps, weight, bias, affine, stream);
      });
}

// Fills `affine` likewise, for the statistics of x, which has at least one row.
inline void FoldStatistics(const Tensor& x, double eps, const Tensor& weight, const Tensor& bias,
                           ChannelAffine& affine) {
  AtDoor(
      "batch_norm", x.device(), [&] { cpu::FoldStatistics(x, eps, weight, bias, affine); },
      [&](StreamHandle stream) { cuda::FoldStatistics(x, eps, weight, bias, affine, stream); });
}

// y = activation(affine(x) + residual); the residual may be undefined.
inline void NormalizeChannels(const Tensor& x, const ChannelAffine& affine,
                              ops::Activation activation, const Tensor& residual, Tensor& y) {
  AtDoor(
      "batch_norm", y.device(), [&] { cpu::NormalizeChannels(x, affine, activation, residual, y); },
      [&](StreamHandle stream) {
        cuda::NormalizeChannels(x, affine, activation, residual, y, stream);
      });
}

using ops::NormBackwardInputs;
using ops::NormGradients;

// The gradients, for statistics of x alone or constant ones.
inline void BatchNormBackward(const NormBackwardInputs& in, const Tensor& dy, NormGradients& out) {
  AtDoor(
      "batch_norm", dy.device(), [&] { cpu::BatchNormBackward(in, dy, out); },
      [&](StreamHandle stream) { cuda::BatchNormBackward(in, dy, out, stream); });
}

// The first half of it, for statistics that replicas share. Writes the masked dy to `masked`, if
// defined, and to sums (2, C), f64, the sums over this replica's rows of the masked dy and of the
// masked dy times (x - mean).
inline void GradientSums(const NormBackwardInputs& in, const Tensor& dy, Tensor& masked,
                         Tensor& sums) {
  AtDoor(
      "batch_norm", dy.device(), [&] { cpu::GradientSumsOf(in, dy, masked, sums); },
      [&](StreamHandle stream) { cuda::GradientSumsOf(in, dy, masked, sums, stream); });
}

// The second half. The gradients of weight and bias use this replica's sums; that of x uses the
// sums over all replicas that share the statistics, whose values `in.count` counts.
inline void NormalizeChannelsBackward(const NormBackwardInputs& in, const Tensor& dy,
                                      const Tensor& own_sums, const Tensor& all_sums,
                                      NormGradients& out) {
  AtDoor(
      "batch_norm", dy.device(),
      [&] { cpu::NormalizeChannelsBackward(in, dy, own_sums, all_sums, out); },
      [&](StreamHandle stream) {
        cuda::NormalizeChannelsBackward(in, dy, own_sums, all_sums, out, stream);
      });
}

// Makes these updates of layers on one device, of which there is at least one; on a GPU all those
// of the same types in one launch.
inline void UpdateRunningStatistics(std::vector<ops::RunningUpdate>& updates) {
  AtDoor(
      "batch_norm", updates.front().running_mean.device(),
      [&] { cpu::UpdateRunningStatistics(updates); },
      [&](StreamHandle stream) { cuda::UpdateRunningStatistics(updates, stream); });
}

// mean and var, of `count` values per channel, become those of these and `more` values together;
// all f64.
inline void MergeStatistics(const Tensor& more_mean, const Tensor& more_var, int64_t more,
                            Tensor& mean, Tensor& var, int64_t count) {
  AtDoor(
      "batch_norm", mean.device(),
      [&] { cpu::MergeStatistics(more_mean, more_var, more, mean, var, count); },
      [&](StreamHandle stream) {
        cuda::MergeStatistics(more_mean, more_var, more, mean, var, count, stream);
      });
}

}  // namespace torus::kernels
