// Binary arithmetic, comparison and selection on a GPU; ops/elementwise/kernels.h has the
// contracts.
#pragma once

#include <string_view>

#include "ops/elementwise/binary_op.h"
#include "runtime/tensor.h"

namespace torus::cuda {

void Binary(std::string_view op, ops::BinaryOp what, const Tensor& a, const Tensor& b, Tensor& out,
            StreamHandle stream);
void Compare(std::string_view op, ops::CompareOp what, const Tensor& a, const Tensor& b,
             Tensor& out, StreamHandle stream);
void Select(std::string_view op, const Tensor& mask, const Tensor& a, const Tensor& b, Tensor& out,
            StreamHandle stream);
void Band(std::string_view op, int64_t low, int64_t high, Tensor& mask, StreamHandle stream);

}  // namespace torus::cuda
