// Binary arithmetic, comparison and selection on a CPU; ops/elementwise/kernels.h has the
// contracts.
#pragma once

#include <string_view>

#include "ops/elementwise/binary_op.h"
#include "runtime/tensor.h"

namespace torus::cpu {

void Binary(std::string_view op, ops::BinaryOp what, const Tensor& a, const Tensor& b, Tensor& out);
void Compare(std::string_view op, ops::CompareOp what, const Tensor& a, const Tensor& b,
             Tensor& out);
void Select(std::string_view op, const Tensor& mask, const Tensor& a, const Tensor& b, Tensor& out);
void Band(int64_t low, int64_t high, Tensor& mask);

}  // namespace torus::cpu
