// What the class losses ask of a device. Tensors are contiguous, f32 or f64, all of one dtype, but
// for the targets. x is (rows, classes), a loss of each row (rows).
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

// BadInput tagged `op` that names a target which is neither in [0, classes) nor ignored. On a GPU
// that is told later where the thread has LaterChecks (runtime/later_checks.h): in the targets,
// then a copy, a wrong one is ignored. Without them it waits for the stream.
inline void CheckClasses(std::string_view op, int64_t classes, ops::ClassTargets& targets) {
  AtDoor(
      op, targets.numbers.device(), [&] { cpu::CheckClasses(op, targets, classes); },
      [&](StreamHandle stream) { cuda::CheckClasses(op, classes, targets, stream); });
}

// How many targets are not ignored; on meta, all.
inline int64_t CountTargets(const ops::ClassTargets& targets) {
  int64_t count = targets.numbers.numel();
  AtDoor(
      "count_targets", targets.numbers.device(), [&] { count = cpu::CountTargets(targets); },
      [&](StreamHandle stream) { count = cuda::CountTargets(targets, stream); });
  return count;
}

// The same as a scalar of the losses' dtype.
inline void CountTargets(const ops::ClassTargets& targets, Tensor& count) {
  AtDoor(
      "count_targets", count.device(), [&] { cpu::CountTargets(targets, count); },
      [&](StreamHandle stream) { cuda::CountTargets(targets, count, stream); });
}

// Places and numbers of the targets that are not ignored; as many as CountTargets says.
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

// loss[r] = -log softmax(x[r])[target[r]], 0 where that is ignored or no column of x; writes the
// largest x of each row and log_sum[r] = log sum_c exp(x[r, c] - largest[r]) too.
inline void CrossEntropy(const Tensor& x, const ops::ClassTargets& targets, Tensor& largest,
                         Tensor& log_sum, Tensor& loss) {
  AtDoor(
      "cross_entropy", loss.device(),
      [&] { cpu::CrossEntropy(x, targets, largest, log_sum, loss); },
      [&](StreamHandle stream) { cuda::CrossEntropy(x, targets, largest, log_sum, loss, stream); });
}

// dx[r] = dloss[r] (softmax(x[r]) - one at the target, where that is a column of x), 0 where that
// is ignored. softmax(x) = exp(x - largest - log_sum), which may be those over more classes than x
// has.
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

// loss (), the reduced cross entropy of hidden weight^T + bias, and its gradients.
inline void LinearCrossEntropy(const ops::LinearClassProblem& problem, Tensor& loss,
                               ops::LinearClassGradients& gradients) {
  const int products = 1 + gradients.hidden.defined() + gradients.weight.defined();
  ObserveProduct(2 * products * problem.hidden.numel() * problem.weight.dim(0));
  AtDoor(
      "linear_cross_entropy", loss.device(),
      [&] { cpu::LinearCrossEntropy(problem, loss, gradients); },
      [&](StreamHandle stream) { cuda::LinearCrossEntropy(problem, loss, gradients, stream); });
}

// Whether a scalar is known to be 1; of what is not in a CPU's memory that is not asked.
inline bool IsOne(const Tensor& factor) {
  bool one = false;
  AtDoor(
      "linear_cross_entropy", factor.device(), [&] { one = cpu::IsOne(factor); },
      [](StreamHandle) {});
  return one;
}

}  // namespace torus::kernels
