// Batch normalisation over channels-last data, fused with the activation and the residual sum that
// follow it (Ioffe & Szegedy 2015, "Batch normalization", algorithm 1).
#pragma once

#include <cstdint>

#include "autograd/variable.h"
#include "ops/batch_norm/activation.h"
#include "runtime/gather_replicas.h"

namespace torus::ops {

// The result, and the statistics that it was normalised with.
struct BatchNormResult {
  Variable y;         // of the shape of x
  Tensor mean;        // (C), of the batch; 0 if it has no values
  Tensor var;         // (C), biased; 1 if it has none
  int64_t count = 0;  // values per channel; over all replicas if these are synchronised
};

// y = activation((x - mean) / sqrt(var + eps) * weight + bias + residual), with the batch's own
// mean and biased variance of each channel over all dimensions but the last. x (N, ..., C) of rank
// 2 or more, f32 or f64; weight and bias (C) or undefined (ones, zeros); residual like x or
// undefined. The backward keeps only x, mean and 1/std (and y, or in 16-bit types the residual, if
// there are both a residual and an activation). The caller updates running statistics
// (UpdateRunningStatistics). Throws BadInput if a channel has one value; an empty x is accepted, as
// in PyTorch.
//
// With `gather`, mean and variance are over the x of all replicas, which must all call this
// function, and the gradient of x uses sums over all replicas too (as torch.nn.SyncBatchNorm; Peng
// et al. 2018, "MegDet", section 3.3). Gradients of weight and bias cover only this replica's rows;
// they add up over the replicas. `gather` is called once in the forward, and once in the backward
// if x needs a gradient. It is never called for x on the meta device, where `count` is this
// replica's.
BatchNormResult BatchNormTrain(const Variable& x, const Variable& weight, const Variable& bias,
                               double eps = 1e-5, Activation activation = Activation::kNone,
                               const Variable& residual = {}, const GatherReplicas& gather = {});

// The same with the given statistics (C), which are constants.
Variable BatchNormEval(const Variable& x, const Tensor& mean, const Tensor& var,
                       const Variable& weight, const Variable& bias, double eps = 1e-5,
                       Activation activation = Activation::kNone, const Variable& residual = {});

// running = (1 - momentum) running + momentum batch, with the variance made unbiased (times count /
// (count - 1)), as in PyTorch; nothing changes if count is 0. For PyTorch's momentum=None pass 1 /
// (number of batches so far, including this one). Also adds 1 to `batches`, an i64, if given. On a
// GPU, put off if the thread batches work (runtime/batched_work.h).
void UpdateRunningStatistics(const Tensor& mean, const Tensor& var, int64_t count, double momentum,
                             Tensor& running_mean, Tensor& running_var, Tensor* batches = nullptr);

// Merges statistics: mean and var, of `count` values per channel, become those of these and `more`
// other values together; variances are biased (Chan, Golub and LeVeque 1983, "Algorithms for
// computing the sample variance", equations 2.1). Nothing changes if `more` is 0. All (C),
// contiguous f64, on one device; throws BadInput otherwise.
void MergeStatistics(const Tensor& more_mean, const Tensor& more_var, int64_t more, Tensor& mean,
                     Tensor& var, int64_t count);

}  // namespace torus::ops
