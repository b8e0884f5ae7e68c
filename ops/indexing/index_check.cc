#include "ops/indexing/index_check.h"

#include "ops/indexing/kernels.h"

namespace torus::ops {

Tensor CheckedIndex(std::string_view op, const Tensor& index, int64_t bound) {
  Require(index.dtype() == DType::kI64 || index.dtype() == DType::kI32, op,
          "the index must be i64 or i32, got {}", index);
  Tensor checked = index.To(DType::kI64).Contiguous();
  kernels::CheckIndex(op, bound, checked);
  return checked;
}

}  // namespace torus::ops
