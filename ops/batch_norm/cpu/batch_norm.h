// Batch norm on a CPU; ops/batch_norm/kernels.h has the contracts.
#pragma once

#include "ops/batch_norm/channel_affine.h"
#include "ops/batch_norm/cpu/norm_rows.h"
#include "runtime/tensor.h"

namespace torus::cpu {

// The bounds of an activation.
Clamp ClampOf(ops::Activation activation);

using ops::ChannelAffine;
using ops::NormBackwardInputs;
using ops::NormGradients;

void ChannelStatistics(const Tensor& x, Tensor& mean, Tensor& var);
void FoldStatistics(const Tensor& x, double eps, const Tensor& weight, const Tensor& bias,
                    ChannelAffine& affine);
void FoldChannels(const Tensor& mean, const Tensor& var, double eps, const Tensor& weight,
                  const Tensor& bias, ChannelAffine& affine);
void NormalizeChannels(const Tensor& x, const ChannelAffine& affine, ops::Activation activation,
                       const Tensor& residual, Tensor& y);
void GradientSumsOf(const NormBackwardInputs& in, const Tensor& dy, Tensor& masked, Tensor& sums);
void BatchNormBackward(const NormBackwardInputs& in, const Tensor& dy, NormGradients& out);
void NormalizeChannelsBackward(const NormBackwardInputs& in, const Tensor& dy,
                               const Tensor& own_sums, const Tensor& all_sums, NormGradients& out);
void UpdateRunningStatistics(std::vector<ops::RunningUpdate>& updates);

}  // namespace torus::cpu
