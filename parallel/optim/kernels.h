// The kernels of optimizers: each makes one pass over the tensors of all parameters, of which there
// is at least one element, on one device; on a GPU one launch a dtype. GPUs give the same bits as
// CPUs, unless stated otherwise.
#pragma once

#include <vector>

#include "parallel/optim/norm_block.h"
#include "parallel/optim/update_items.h"
#include "runtime/kernel_table.h"

namespace torus::parallel {

// The device of the tensors; the CPU if there are none. Throws BadInput if they are on different
// devices.
inline Device DeviceOfAll(const std::vector<Tensor>& tensors) {
  Device device;
  for (const Tensor& tensor : tensors) device = CommonDevice("optimizer", tensors.front(), tensor);
  return device;
}

inline Device DeviceOfAll(std::vector<Tensor> some, const std::vector<Tensor>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return DeviceOfAll(some);
}

// The updates of sgd_kernel.h and of adam_kernel.h; the scalars of each item.
TORUS_KERNEL(SgdStep, "sgd", items.front().parameter.device(),
             (std::vector<SgdItem> & items, const StepScalars<SgdScalars>& scalars),
             (items, scalars));
TORUS_KERNEL(AdamStep, "adam", items.front().parameter.device(),
             (std::vector<AdamItem> & items, const StepScalars<AdamScalars>& scalars),
             (items, scalars));

// An uninitialised tensor with an element for each block of the gradients (contiguous), on their
// device.
inline Tensor OneForEachBlock(const std::vector<Tensor>& gradients, DType dtype) {
  int64_t blocks = 0;
  for (const Tensor& gradient : gradients) blocks += NormBlocks(gradient.numel());
  return Tensor({blocks}, dtype, DeviceOfAll(gradients));
}

// sums (f64) = of each block of kNormBlock elements of each gradient (contiguous, f32 or f64), one
// gradient after another, the sum of squares. A GPU adds the squares of a block in another order.
TORUS_KERNEL(SquaredBlockNorms, "clip", sums.device(),
             (const std::vector<Tensor>& gradients, Tensor& sums), (gradients, sums));

// Likewise found (i32): all are 0 if no element is an infinity or NaN.
TORUS_KERNEL(FindNonFinite, "finite_check", found.device(),
             (const std::vector<Tensor>& gradients, Tensor& found), (gradients, found));

// to[i] = from[i], rounded; from: contiguous f32 tensors, to: contiguous ones of one 16-bit dtype.
TORUS_KERNEL(RoundAll, "low_copies", DeviceOfAll(from, to),
             (const std::vector<Tensor>& from, std::vector<Tensor>& to), (from, to));

// averages[i] += share x (weights[i] - averages[i]), for contiguous f32 or f64 tensors.
TORUS_KERNEL(MoveTowards, "averages", DeviceOfAll(weights, averages),
             (const std::vector<Tensor>& weights, double share, std::vector<Tensor>& averages),
             (weights, share, averages));

}  // namespace torus::parallel
