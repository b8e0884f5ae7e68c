// The kernels of selection, writing and adding by index, on the device of their tensors. Values
// that are only moved have any dtype, those that are added f32, f64 or i64. An index is contiguous
// i64; call CheckIndex before using it.
#pragma once

#include <string_view>

#include "runtime/kernel_table.h"

namespace torus {

// Throws BadInput tagged `op` for a value outside of [0, bound), naming it and its position. On a
// GPU, if the thread has DeferredChecks (runtime/deferred_checks.h), the error is thrown later and
// `index` becomes a copy that is safe to use; otherwise this waits for the stream.
TORUS_KERNEL(CheckIndex, op, index.device(), (std::string_view op, int64_t bound, Tensor& index),
             (op, bound, index));

// y[o, k, i] = x[o, index[k], i], both contiguous.
TORUS_KERNEL(SelectRows, op, y.device(),
             (std::string_view op, const Tensor& x, const Tensor& index, Tensor& y),
             (op, x, index, y));

// dx[o, j, i] = sum of dy[o, k, i] over all k with index[k] = j, in the order of k; both
// contiguous. Skips index value `skip` (-1: none).
TORUS_KERNEL(AddRows, op, dx.device(),
             (std::string_view op, const Tensor& dy, const Tensor& index, int64_t skip, Tensor& dx),
             (op, dy, index, skip, dx));

// Scales each row of weight (count, width) that the index has, and whose p-norm is above `most`, by
// most / (norm + 1e-7); once, however often the index has it. weight is contiguous; p is above 0
// and may be infinite.
TORUS_KERNEL(RenormRows, "embedding", weight.device(),
             (const Tensor& index, double most, double p, Tensor& weight),
             (index, most, p, weight));

// y[i][j][k] = x[index[i][j][k]][j][k] for dim 0, and so on. x and y are contiguous, y has index's
// shape.
TORUS_KERNEL(Gather, "gather", y.device(),
             (const Tensor& x, int dim, const Tensor& index, Tensor& y), (x, dim, index, y));

// x[index[i][j][k]][j][k] += y[i][j][k], those that meet in row-major order; all are contiguous.
TORUS_KERNEL(AddColumns, op, x.device(),
             (std::string_view op, const Tensor& y, int dim, const Tensor& index, Tensor& x),
             (op, y, dim, index, x));

// x[index[i][j][k]][j][k] = y[i][j][k], of those that meet the last in row-major order; all are
// contiguous.
TORUS_KERNEL(Scatter, "scatter", x.device(),
             (const Tensor& y, int dim, const Tensor& index, Tensor& x), (y, dim, index, x));

// places (count, rank), a new i64 tensor, has the indices at which the contiguous bool mask holds,
// in row-major order. Waits for a GPU.
TORUS_KERNEL(Nonzero, "nonzero", mask.device(), (const Tensor& mask, Tensor& places),
             (mask, places));

// bags[i] = the last b with starts[b] <= i. starts ascend from 0; on a CPU throws BadInput tagged
// embedding_bag if they descend.
TORUS_KERNEL(BagOfEach, "embedding_bag", bags.device(), (const Tensor& starts, Tensor& bags),
             (starts, bags));

// y[b, c] = the largest x[i, c] of bag b, starts[b] <= i < starts[b + 1] (the number of rows behind
// the last), without those i that `skip` (bool) holds for, and at[b, c] = the first such i; 0 and
// the number of rows where there is none. skip may be undefined.
TORUS_KERNEL(MaxOfBags, "embedding_bag", y.device(),
             (const Tensor& x, const Tensor& starts, const Tensor& skip, Tensor& y, Tensor& at),
             (x, starts, skip, y, at));

}  // namespace torus
