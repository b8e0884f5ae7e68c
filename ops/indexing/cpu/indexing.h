// Selection by index on a CPU; ops/indexing/kernels.h has the contracts.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::cpu {

void CheckIndex(std::string_view op, const Tensor& index, int64_t bound);
void SelectRows(std::string_view op, const Tensor& x, const Tensor& index, Tensor& y);
void AddRows(std::string_view op, const Tensor& dy, const Tensor& index, int64_t skip, Tensor& dx);
void RenormRows(const Tensor& index, double most, double p, Tensor& weight);
void Gather(const Tensor& x, int dim, const Tensor& index, Tensor& y);
void GatherBackward(const Tensor& dy, int dim, const Tensor& index, Tensor& dx);

}  // namespace torus::cpu
