#include "ops/tokens/tokens.h"

#include "ops/tokens/kernels.h"
#include "runtime/error.h"

namespace torus::ops {

Tensor PositionsBehindPadding(const Tensor& ids, int64_t padding) {
  Require(ids.defined() && ids.rank() == 2, "positions", "needs token ids (N, T), got {}", ids);
  Tensor positions = Empty(ids.shape(), DType::kI64, ids.device());
  kernels::PositionsBehindPadding(ids.To(DType::kI64).Contiguous(), padding, positions);
  return positions;
}

Tensor CausalMask(const Tensor& documents) {
  Require(documents.defined() && documents.rank() == 2, "causal_mask",
          "needs documents (N, T), got {}", documents);
  const int64_t width = documents.dim(1);
  Tensor mask = Empty({documents.dim(0), 1, width, width}, DType::kBool, documents.device());
  kernels::CausalMask(documents.To(DType::kI64).Contiguous(), mask);
  return mask;
}

Tensor CausalMask(int64_t queries, int64_t keys, Device device) {
  Require(queries >= 0 && queries <= keys, "causal_mask", "has {} queries of {} keys", queries,
          keys);
  Tensor mask = Empty({1, 1, queries, keys}, DType::kBool, device);
  kernels::CausalMask(Full({1, keys}, 1, DType::kI64, device), mask);
  return mask;
}

Tensor PositionsInDocuments(const Tensor& documents) {
  Require(documents.defined() && documents.rank() == 2, "positions",
          "needs documents (N, T), got {}", documents);
  Tensor positions = Empty(documents.shape(), DType::kI64, documents.device());
  kernels::PositionsInDocuments(documents.To(DType::kI64).Contiguous(), positions);
  return positions;
}

RowsOfPart FindRowsOfPart(const Tensor& ids, int64_t first, int64_t count) {
  RowsOfPart part{Empty(ids.shape(), DType::kI64, ids.device()),
                  Empty(ids.shape(), DType::kBool, ids.device())};
  kernels::FindRowsOfPart(ids.To(DType::kI64).Contiguous(), {first, first + count}, part.rows,
                          part.here);
  return part;
}

}  // namespace torus::ops
