// What masks and positions of tokens ask of a device. Tensors are contiguous.
#pragma once

#include "ops/tokens/cpu/tokens.h"
#include "ops/tokens/cuda/tokens.h"
#include "runtime/gpu_door.h"
#include "runtime/tensor_split.h"

namespace torus::kernels {

// ids and positions (N, T), i64.
inline void PositionsBehindPadding(const Tensor& ids, int64_t padding, Tensor& positions) {
  AtDoor(
      "positions", positions.device(),
      [&] { cpu::PositionsBehindPadding(ids, padding, positions); },
      [&](StreamHandle stream) { cuda::PositionsBehindPadding(ids, padding, positions, stream); });
}

// tokens (N, T), i64; mask (N, 1, Q, T), bool, of the last Q tokens of each text.
inline void CausalMask(const Tensor& tokens, Tensor& mask) {
  AtDoor(
      "causal_mask", mask.device(), [&] { cpu::CausalMask(tokens, mask); },
      [&](StreamHandle stream) { cuda::CausalMask(tokens, mask, stream); });
}

// rows = ids - range.begin where ids lie in the range, else 0; here: whether they do. ids and rows
// i64, here bool, all of one shape.
inline void FindRowsOfPart(const Tensor& ids, const IndexRange& range, Tensor& rows, Tensor& here) {
  AtDoor(
      "rows_of_part", rows.device(), [&] { cpu::FindRowsOfPart(ids, range, rows, here); },
      [&](StreamHandle stream) { cuda::FindRowsOfPart(ids, range, rows, here, stream); });
}

}  // namespace torus::kernels
