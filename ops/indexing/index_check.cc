#include "ops/indexing/index_check.h"

namespace torus::ops {

Tensor CheckedIndex(std::string_view op, const Tensor& index, int64_t bound) {
  Require(index.dtype() == DType::kI64 || index.dtype() == DType::kI32, op,
          "the index must be i64 or i32, got {}", index);
  const Tensor checked = index.To(DType::kI64).Contiguous();
  const int64_t* p = checked.data<int64_t>();
  for (int64_t i = 0; i < checked.numel(); ++i)
    Require(p[i] >= 0 && p[i] < bound, op, "index {} at position {} is outside of [0, {})", p[i], i,
            bound);
  return checked;
}

}  // namespace torus::ops
