// The kernels of rotary position embeddings, on the device of their tensors, which are contiguous.
#pragma once

#include "ops/rotary/rotary_angles.h"
#include "runtime/kernel_table.h"

namespace torus {

// Row t of table (T, width), f32 or f64, gets the cosines and sines of position first + t
// (ops::RotaryTableAt).
TORUS_KERNEL(RotaryTable, "rotary_embedding", table.device(),
             (const ops::RotaryFrequencies& frequencies, int64_t first, Tensor& table),
             (frequencies, first, table));

// y is x (batch, T, heads, width) turned by the angles of the table, or back by them. Both have the
// table's dtype; or on a GPU bf16 or f16 with an f32 table, computed in f32 and rounded once.
TORUS_KERNEL(Rotate, "rotary_embedding", y.device(),
             (const Tensor& x, const Tensor& table, bool back, Tensor& y), (x, table, back, y));

}  // namespace torus
