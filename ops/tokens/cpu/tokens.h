// Masks and positions of tokens on a CPU; ops/tokens/kernels.h has the contracts.
#pragma once

#include "runtime/tensor.h"
#include "runtime/tensor_split.h"

namespace torus::cpu {

void PositionsBehindPadding(const Tensor& ids, int64_t padding, Tensor& positions);
void CausalMask(const Tensor& tokens, Tensor& mask);
void FindRowsOfPart(const Tensor& ids, const IndexRange& range, Tensor& rows, Tensor& here);

}  // namespace torus::cpu
