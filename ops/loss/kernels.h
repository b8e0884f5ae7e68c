// The kernels of the class losses, on the device of their tensors. Except for the targets, tensors
// are contiguous, f32 or f64, all of one dtype. x is (rows, classes); losses are per row, (rows).
#pragma once

#include "autograd/observe_product.h"
#include "ops/loss/class_targets.h"
#include "ops/loss/ctc_problem.h"
#include "ops/loss/linear_class_problem.h"
#include "ops/loss/nll_targets.h"
#include "runtime/kernel_table.h"

namespace torus {

// Throws BadInput tagged `op` for a target that is neither in [0, classes) nor ignored, and names
// it. On a GPU, if the thread has DeferredChecks (runtime/deferred_checks.h), the error is thrown
// later and `targets` becomes a copy in which wrong targets are ignored; otherwise this waits for
// the stream.
TORUS_KERNEL(CheckClasses, op, targets.numbers.device(),
             (std::string_view op, int64_t classes, ops::ClassTargets& targets),
             (op, classes, targets));

// count = the number of targets that are not ignored; on a GPU this waits for the stream. On the
// meta device the count stays as it is.
TORUS_KERNEL(CountTargets, "count_targets", targets.numbers.device(),
             (const ops::ClassTargets& targets, int64_t& count), (targets, count));

// The same, as a scalar of the losses' dtype.
TORUS_KERNEL(CountTargets, "count_targets", count.device(),
             (const ops::ClassTargets& targets, Tensor& count), (targets, count));

// Writes positions and class numbers of the targets that are not ignored. `counted` must have
// CountTargets elements.
TORUS_KERNEL(FindCounted, "find_counted", counted.places.device(),
             (const ops::ClassTargets& targets, ops::CountedTargets& counted), (targets, counted));

// loss[r] = -sum_c q(c) x[r, c]; scale[r] = w[target[r]], or 0 if ignored.
TORUS_KERNEL(NllLoss, "nll_loss", loss.device(),
             (const Tensor& x, const ops::NllTargets& targets, Tensor& loss, Tensor& scale),
             (x, targets, loss, scale));

// dx[r, c] = -q(c) dloss[r].
TORUS_KERNEL(NllLossBackward, "nll_loss", dx.device(),
             (const ops::NllTargets& targets, const Tensor& dloss, Tensor& dx),
             (targets, dloss, dx));

// loss[r] = -log softmax(x[r])[target[r]], or 0 if the target is ignored or not a column of x. Also
// writes largest[r], the largest x of each row, and log_sum[r] = log sum_c exp(x[r, c] -
// largest[r]).
TORUS_KERNEL(CrossEntropy, "cross_entropy", loss.device(),
             (const Tensor& x, const ops::ClassTargets& targets, Tensor& largest, Tensor& log_sum,
              Tensor& loss),
             (x, targets, largest, log_sum, loss));

// dx[r] = dloss[r] (softmax(x[r]) - onehot(target[r])), or 0 if the target is ignored; onehot is
// zero if the target is not a column of x. softmax(x) = exp(x - largest - log_sum), where largest
// and log_sum may be over more classes than x has.
TORUS_KERNEL(CrossEntropyBackward, "cross_entropy", dx.device(),
             (const Tensor& x, const ops::ClassTargets& targets, const Tensor& largest,
              const Tensor& log_sum, const Tensor& dloss, Tensor& dx),
             (x, targets, largest, log_sum, dloss, dx));

// Writes log alpha (N, T, states), as far as the sequences go, and the loss (N) of each sequence.
TORUS_KERNEL(CtcLoss, "ctc_loss", loss.device(),
             (const ops::CtcProblem& problem, Tensor& alpha, Tensor& loss), (problem, alpha, loss));

// dx (T, N, C) = dloss (N) (exp(log_probs) - posterior of the class), and 0 for frames behind a
// sequence's end and, with zero_infinity, for a sequence with an infinite loss.
TORUS_KERNEL(CtcLossBackward, "ctc_loss", dx.device(),
             (const ops::CtcProblem& problem, const Tensor& alpha, const Tensor& loss,
              const Tensor& dloss, Tensor& dx),
             (problem, alpha, loss, dloss, dx));

// Computes loss (), the reduced cross entropy of hidden weight^T + bias, and its gradients.
TORUS_PRODUCT_KERNEL(LinearCrossEntropy, "linear_cross_entropy", loss.device(),
                     (const ops::LinearClassProblem& problem, Tensor& loss,
                      ops::LinearClassGradients& gradients),
                     (problem, loss, gradients),
                     2 * problem.hidden.numel() * problem.weight.dim(0) *
                         (1 + gradients.hidden.defined() + gradients.weight.defined()));

}  // namespace torus
