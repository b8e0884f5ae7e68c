// Helpers of all op families that call cuDNN.
#pragma once

#include "autograd/precision.h"
#include "ops/cuda/cudnn/conv_graphs.h"
#include "ops/cuda/cudnn/plan_choice.h"
#include "runtime/tensor.h"

namespace torus::cuda {

// Tensor cores multiply 16-bit operands exactly, but would round f32 operands, so these use them
// only if TF32 is allowed.
inline EngineRules RulesFor(DType operands) {
  return {.tensor_cores = IsLow(operands) || WithPrecision::Tf32(),
          .most_workspace = int64_t{1} << 30};
}

inline ConvOperand OperandOf(const Tensor& tensor) {
  return {tensor.dtype(), AlignmentOf(tensor.raw())};
}

}  // namespace torus::cuda
