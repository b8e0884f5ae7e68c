// Many tensors rounded to 16 bits in one pass.
#pragma once

#include <vector>

#include "runtime/tensor.h"

namespace torus::parallel {

// to[i] = from[i], rounded to nearest even. All are contiguous and on one device; `from` are f32,
// `to` bf16, or all f16, of the same shapes. On a GPU in one launch.
void RoundAll(const std::vector<Tensor>& from, std::vector<Tensor>& to);

}  // namespace torus::parallel
