// The kernel of sorting, on the device of its tensors, which are contiguous.
#pragma once

#include <string_view>

#include "runtime/kernel_table.h"

namespace torus {

// order[r, p] (i64), for p below its second size: which element of row r of x, of any dtype, comes
// as number p when the row is sorted. Equal ones in the order of x; NaN is the largest. x is (rows,
// count), with at least one element a row.
TORUS_KERNEL(SortRows, op, order.device(),
             (std::string_view op, const Tensor& x, bool descending, Tensor& order),
             (op, x, descending, order));

}  // namespace torus
