// The optimizers' kernels on a CPU; parallel/optim/kernels.h has the contracts.
#pragma once

#include <vector>

#include "parallel/optim/update_items.h"

namespace torus::parallel::cpu {

void SgdStep(std::vector<SgdItem>& items, const std::vector<SgdScalars>& scalars);
void AdamStep(std::vector<AdamItem>& items, const std::vector<AdamScalars>& scalars);
void SquaredBlockNorms(const std::vector<Tensor>& gradients, Tensor& sums);
void FindNonFinite(const std::vector<Tensor>& gradients, Tensor& found);
void RoundAll(const std::vector<Tensor>& from, std::vector<Tensor>& to);
void MoveTowards(const std::vector<Tensor>& weights, double share, std::vector<Tensor>& averages);

}  // namespace torus::parallel::cpu
