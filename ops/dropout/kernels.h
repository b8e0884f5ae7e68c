// The kernels of dropout, on the device of their tensors. Tensors are contiguous and of one shape.
// x and y are f32, f64 or, on a GPU, a 16-bit type, which is multiplied in f32 and rounded once.
#pragma once

#include <span>

#include "ops/dropout/dropped_elements.h"
#include "runtime/kernel_table.h"
#include "runtime/rng.h"

namespace torus {

// Fills `keep` (u8), which has one equal part for each stream: element i of part s is 1 if word i
// of streams[s] is at least `threshold` (p 2^32), else 0.
TORUS_KERNEL(DropoutMask, "dropout", keep.device(),
             (std::span<const RandomStream> streams, uint64_t threshold, Tensor& keep),
             (streams, threshold, keep));

// y = keep ? x * scale : 0; also the gradient.
TORUS_KERNEL(DropoutApply, "dropout", y.device(),
             (const Tensor& x, const Tensor& keep, double scale, Tensor& y), (x, keep, scale, y));

// y = (keep ? x * scale : 0, rounded to the type of x) + residual. All f32, all of
// one 16-bit type, or x 16-bit and the others f32.
TORUS_GPU_KERNEL(DropoutAdd, "dropout", y.device(),
                 (const Tensor& x, const Tensor& residual, const ops::DroppedElements& dropped,
                  Tensor& y),
                 (x, residual, dropped, y));

// dx = keep ? (dy, rounded to the type of dx) * scale : 0; types as above.
TORUS_GPU_KERNEL(DropoutGradient, "dropout", dx.device(),
                 (const Tensor& dy, const ops::DroppedElements& dropped, Tensor& dx),
                 (dy, dropped, dx));

}  // namespace torus
