// Batch norm on a GPU; ops/batch_norm/kernels.h has the contracts. A few rows are summed in f32
// (f64 for f64), and those sums in f64.
#pragma once

#include "ops/batch_norm/channel_affine.h"
#include "runtime/tensor.h"

namespace torus::cuda {

void ChannelStatistics(const Tensor& x, Tensor& mean, Tensor& var, StreamHandle stream);
void FoldStatistics(const Tensor& x, double eps, const Tensor& weight, const Tensor& bias,
                    ops::ChannelAffine& affine, StreamHandle stream);
void FoldChannels(const Tensor& mean, const Tensor& var, double eps, const Tensor& weight,
                  const Tensor& bias, ops::ChannelAffine& affine, StreamHandle stream);
void NormalizeChannels(const Tensor& x, const ops::ChannelAffine& affine,
                       ops::Activation activation, const Tensor& residual, Tensor& y,
                       StreamHandle stream);
void GradientSumsOf(const ops::NormBackwardInputs& in, const Tensor& dy, Tensor& masked,
                    Tensor& sums, StreamHandle stream);
void BatchNormBackward(const ops::NormBackwardInputs& in, const Tensor& dy, ops::NormGradients& out,
                       StreamHandle stream);
void NormalizeChannelsBackward(const ops::NormBackwardInputs& in, const Tensor& dy,
                               const Tensor& own_sums, const Tensor& all_sums,
                               ops::NormGradients& out, StreamHandle stream);
void UpdateRunningStatistics(std::vector<ops::RunningUpdate>& updates, StreamHandle stream);
void MergeStatistics(const Tensor& more_mean, const Tensor& more_var, int64_t more, Tensor& mean,
                     Tensor& var, int64_t count, StreamHandle stream);

}  // namespace torus::cuda
