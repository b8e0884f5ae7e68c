// Batch normalisation over channels-last data, fused with the activation and the residual sum that
// follow it (Ioffe & Szegedy 2015, "Batch normalization", algorithm 1).
#pragma once

#include <cstdint>

#include "autograd/variable.h"
#include "ops/batch_norm/activation.h"
#include "runtime/gather_replicas.h"

namespace torus::ops {

struct BatchNormResult {
  Variable y;
  Tensor mean;        // (C), of the batch
  Tensor var;         // (C), biased
  int64_t count = 0;  // values a channel: all replicas', where these are synchronised
};

// y = activation((x - mean) / sqrt(var + eps) * weight + bias + residual), with the batch's own
// mean and biased variance of each channel over all dimensions but the last. x (N, ..., C) of rank
// 2 or more, f32 or f64; weight and bias (C) or undefined (ones, zeros); residual like x or
// undefined. Nothing but x, mean and 1/std is kept for the backward (and y where residual and
// activation meet). Running statistics are the caller's: UpdateRunningStatistics. BadInput when a
// channel has fewer than two values.
//
// With `gather`, mean and variance are over the x of all replicas, which call this together, and so
// does the backward for the gradient of x (as torch.nn.SyncBatchNorm; Peng et al. 2018, "MegDet",
// section 3.3). Gradients of weight and bias are of this replica's rows: the replicas' add up to
// those of all. It is called once in the forward, and once in the backward where x's gradient is
// wanted; never for x on meta, whose count is then this replica's.
BatchNormResult BatchNormTrain(const Variable& x, const Variable& weight, const Variable& bias,
                               double eps = 1e-5, Activation activation = Activation::kNone,
                               const Variable& residual = {}, const GatherReplicas& gather = {});

// The same with given statistics (C), as constants.
Variable BatchNormEval(const Variable& x, const Tensor& mean, const Tensor& var,
                       const Variable& weight, const Variable& bias, double eps = 1e-5,
                       Activation activation = Activation::kNone, const Variable& residual = {});

// running = (1 - momentum) running + momentum batch, the variance made unbiased (count / (count -
// 1)), as PyTorch does. For momentum None the caller passes 1 / (number of batches so far, this one
// included).
void UpdateRunningStatistics(const Tensor& mean, const Tensor& var, int64_t count, double momentum,
                             Tensor& running_mean, Tensor& running_var);

// The mean and biased variance of `count` values a channel become those of these and `more` values
// together (Chan, Golub and LeVeque 1983, "Algorithms for computing the sample variance", equations
// 2.1). All (C), contiguous f64, on one device; BadInput otherwise.
void MergeStatistics(const Tensor& more_mean, const Tensor& more_var, int64_t more, Tensor& mean,
                     Tensor& var, int64_t count);

}  // namespace torus::ops
