// Optimizers' passes on a CPU; parallel/optim/kernels.h has the contracts.
#pragma once

#include <vector>

#include "parallel/optim/update_items.h"

namespace torus::parallel::cpu {

void SgdStep(std::vector<SgdItem>& items);
void AdamStep(std::vector<AdamItem>& items);
std::vector<std::vector<double>> SquaredBlockNorms(const std::vector<Tensor>& gradients);
bool AllFinite(const std::vector<Tensor>& gradients);
void MoveTowards(const std::vector<Tensor>& weights, double share, std::vector<Tensor>& averages);

}  // namespace torus::parallel::cpu
