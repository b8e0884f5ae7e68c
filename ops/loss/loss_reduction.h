// How a loss reduces the losses of single elements.
#pragma once

#include <string_view>

#include "runtime/error.h"

namespace torus::ops {

enum class LossReduction { kNone, kMean, kSum };

// Parses PyTorch's names "none", "mean" and "sum". Throws BadInput tagged `op` for other names.
inline LossReduction ParseLossReduction(std::string_view op, std::string_view name) {
  Require(name == "none" || name == "mean" || name == "sum", op,
          "reduction must be none, mean or sum, got {}", name);
  return name == "none"   ? LossReduction::kNone
         : name == "mean" ? LossReduction::kMean
                          : LossReduction::kSum;
}

}  // namespace torus::ops
