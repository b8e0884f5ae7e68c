// What the rooms' calls of cuDNN have in common.
#pragma once

#include "autograd/precision.h"
#include "ops/cuda/cudnn/conv_graphs.h"
#include "ops/cuda/cudnn/plan_choice.h"
#include "runtime/tensor.h"

namespace torus::cuda {

// Tensor cores multiply 16 bits exactly; of f32 they keep all bits but where TF32 is allowed.
inline EngineRules RulesFor(DType operands) {
  return {.tensor_cores = IsLow(operands) || WithPrecision::Tf32(),
          .most_workspace = int64_t{1} << 30};
}

inline ConvOperand OperandOf(const Tensor& tensor) {
  return {tensor.dtype(), AlignmentOf(tensor.raw())};
}

}  // namespace torus::cuda
