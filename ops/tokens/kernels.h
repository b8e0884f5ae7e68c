// The kernels for masks and positions of tokens, on the device of their tensors. Tensors are
// contiguous. tokens.h says what they compute.
#pragma once

#include "ops/tokens/cpu/tokens.h"
#include "ops/tokens/cuda/tokens.h"
#include "runtime/gpu_door.h"
#include "runtime/tensor_split.h"

namespace torus::kernels {

// ids and positions are (N, T), i64.
inline void PositionsBehindPadding(const Tensor& ids, int64_t padding, Tensor& positions) {
  AtDoor(
      "positions", positions.device(),
      [&] { cpu::PositionsBehindPadding(ids, padding, positions); },
      [&](StreamHandle stream) { cuda::PositionsBehindPadding(ids, padding, positions, stream); });
}

// tokens is (N, T), i64; mask is (N, 1, Q, T), bool, for the last Q tokens of each text.
inline void CausalMask(const Tensor& tokens, Tensor& mask) {
  AtDoor(
      "causal_mask", mask.device(), [&] { cpu::CausalMask(tokens, mask); },
      [&](StreamHandle stream) { cuda::CausalMask(tokens, mask, stream); });
}

// here = whether ids are in the range; rows = ids - range.begin if so, else 0. ids and rows are
// i64, here is bool, all of one shape.
inline void FindRowsOfPart(const Tensor& ids, const IndexRange& range, Tensor& rows, Tensor& here) {
  AtDoor(
      "rows_of_part", rows.device(), [&] { cpu::FindRowsOfPart(ids, range, rows, here); },
      [&](StreamHandle stream) { cuda::FindRowsOfPart(ids, range, rows, here, stream); });
}

}  // namespace torus::kernels
