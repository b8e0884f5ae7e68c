// The kernels of the class losses, on the device of their tensors. Except for the targets, tensors
// are contiguous, f32 or f64, all of one dtype. x is (rows, classes); losses are per row, (rows).
#pragma once

#include "autograd/op_observer.h"
#include "ops/loss/cpu/class_cross_entropy.h"
#include "ops/loss/cpu/class_targets.h"
#include "ops/loss/cpu/linear_cross_entropy.h"
#include "ops/loss/cpu/nll_loss.h"
#include "ops/loss/cuda/class_cross_entropy.h"
#include "ops/loss/cuda/class_targets.h"
#include "ops/loss/cuda/linear_cross_entropy.h"
#include "ops/loss/cuda/nll_loss.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// Throws BadInput tagged `op` for a target that is neither in [0, classes) nor ignored, and names
// it. On a GPU, if the thread has DeferredChecks (runtime/deferred_checks.h), the error is thrown
// later and `targets` becomes a copy in which wrong targets are ignored; otherwise this waits for
// the stream.
inline void CheckClasses(std::string_view op, int64_t classes, ops::ClassTargets& targets) {
  AtDoor(
      op, targets.numbers.device(), [&] { cpu::CheckClasses(op, targets, classes); },
      [&](StreamHandle stream) { cuda::CheckClasses(op, classes, targets, stream); });
}

// The number of targets that are not ignored; on the meta device, of all targets.
inline int64_t CountTargets(const ops::ClassTargets& targets) {
  int64_t count = targets.numbers.numel();
  AtDoor(
      "count_targets", targets.numbers.device(), [&] { count = cpu::CountTargets(targets); },
      [&](StreamHandle stream) { count = cuda::CountTargets(targets, stream); });
  return count;
}

// The same, as a scalar of the losses' dtype.
inline void CountTargets(const ops::ClassTargets& targets, Tensor& count) {
  AtDoor(
      "count_targets", count.device(), [&] { cpu::CountTargets(targets, count); },
      [&](StreamHandle stream) { cuda::CountTargets(targets, count, stream); });
}

// Writes positions and class numbers of the targets that are not ignored. `counted` must have
// CountTargets elements.
inline void FindCounted(const ops::ClassTargets& targets, ops::CountedTargets& counted) {
  AtDoor(
      "find_counted", counted.places.device(), [&] { cpu::FindCounted(targets, counted); },
      [&](StreamHandle stream) { cuda::FindCounted(targets, counted, stream); });
}

// loss[r] = -sum_c q(c) x[r, c]; scale[r] = w[target[r]], or 0 if ignored.
inline void NllLoss(const Tensor& x, const ops::NllTargets& targets, Tensor& loss, Tensor& scale) {
  AtDoor(
      "nll_loss", loss.device(), [&] { cpu::NllLoss(x, targets, loss, scale); },
      [&](StreamHandle stream) { cuda::NllLoss(x, targets, loss, scale, stream); });
}

// dx[r, c] = -q(c) dloss[r].
inline void NllLossBackward(const ops::NllTargets& targets, const Tensor& dloss, Tensor& dx) {
  AtDoor(
      "nll_loss", dx.device(), [&] { cpu::NllLossBackward(targets, dloss, dx); },
      [&](StreamHandle stream) { cuda::NllLossBackward(targets, dloss, dx, stream); });
}

// loss[r] = -log softmax(x[r])[target[r]], or 0 if the target is ignored or not a column of x. Also
// writes largest[r], the largest x of each row, and log_sum[r] = log sum_c exp(x[r, c] -
// largest[r]).
inline void CrossEntropy(const Tensor& x, const ops::ClassTargets& targets, Tensor& largest,
                         Tensor& log_sum, Tensor& loss) {
  AtDoor(
      "cross_entropy", loss.device(),
      [&] { cpu::CrossEntropy(x, targets, largest, log_sum, loss); },
      [&](StreamHandle stream) { cuda::CrossEntropy(x, targets, largest, log_sum, loss, stream); });
}

// dx[r] = dloss[r] (softmax(x[r]) - onehot(target[r])), or 0 if the target is ignored; onehot is
// zero if the target is not a column of x. softmax(x) = exp(x - largest - log_sum), where largest
// and log_sum may be over more classes than x has.
inline void CrossEntropyBackward(const Tensor& x, const ops::ClassTargets& targets,
                                 const Tensor& largest, const Tensor& log_sum, const Tensor& dloss,
                                 Tensor& dx) {
  AtDoor(
      "cross_entropy", dx.device(),
      [&] { cpu::CrossEntropyBackward(x, targets, largest, log_sum, dloss, dx); },
      [&](StreamHandle stream) {
        cuda::CrossEntropyBackward(x, targets, largest, log_sum, dloss, dx, stream);
      });
}

// Computes loss (), the reduced cross entropy of hidden weight^T + bias, and its gradients.
inline void LinearCrossEntropy(const ops::LinearClassProblem& problem, Tensor& loss,
                               ops::LinearClassGradients& gradients) {
  const int products = 1 + gradients.hidden.defined() + gradients.weight.defined();
  ObserveProduct(2 * products * problem.hidden.numel() * problem.weight.dim(0));
  AtDoor(
      "linear_cross_entropy", loss.device(),
      [&] { cpu::LinearCrossEntropy(problem, loss, gradients); },
      [&](StreamHandle stream) { cuda::LinearCrossEntropy(problem, loss, gradients, stream); });
}

// Whether a scalar is known to be 1; false on devices other than the CPU, whose memory is not read.
inline bool IsOne(const Tensor& factor) {
  bool one = false;
  AtDoor(
      "linear_cross_entropy", factor.device(), [&] { one = cpu::IsOne(factor); },
      [](StreamHandle) {});
  return one;
}

}  // namespace torus::kernels
