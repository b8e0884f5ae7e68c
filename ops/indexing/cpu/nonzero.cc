#include <algorithm>

#include "ops/indexing/kernels.h"

namespace torus::cpu {

void Nonzero(const Tensor& mask, Tensor& places) {
  const bool* const holds = mask.data<bool>();
  const int64_t count = std::count(holds, holds + mask.numel(), true);
  places = Tensor({count, mask.rank()}, DType::kI64);
  int64_t* next = places.mutable_data<int64_t>();
  Dims at = Dims::Filled(mask.rank(), 0);
  for (int64_t i = 0; i < mask.numel(); ++i) {
    if (holds[i]) next = std::copy(at.begin(), at.end(), next);
    for (int d = mask.rank() - 1; d >= 0; --d) {
      if (++at[d] < mask.shape()[d]) break;
      at[d] = 0;
    }
  }
}

}  // namespace torus::cpu
