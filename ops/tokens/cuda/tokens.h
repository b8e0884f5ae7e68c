// Masks and positions of tokens on a GPU; ops/tokens/kernels.h has the contracts.
#pragma once

#include "runtime/tensor.h"
#include "runtime/tensor_split.h"

namespace torus::cuda {

void PositionsBehindPadding(const Tensor& ids, int64_t padding, Tensor& positions,
                            StreamHandle stream);
void CausalMask(const Tensor& tokens, Tensor& mask, StreamHandle stream);
void FindRowsOfPart(const Tensor& ids, const IndexRange& range, Tensor& rows, Tensor& here,
                    StreamHandle stream);

}  // namespace torus::cuda
