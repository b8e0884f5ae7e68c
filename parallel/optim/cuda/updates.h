// Optimizers' passes on a GPU: one launch over the tensors of all parameters of a dtype.
// parallel/optim/kernels.h has the contracts.
#pragma once

#include <vector>

#include "parallel/optim/update_items.h"

namespace torus::parallel::cuda {

// The bits of the CPU's kernels.
void SgdStep(std::vector<SgdItem>& items, StreamHandle stream);
void AdamStep(std::vector<AdamItem>& items, StreamHandle stream);

void MoveTowards(const std::vector<Tensor>& weights, double share, std::vector<Tensor>& averages,
                 StreamHandle stream);

// Waits for the stream. Within a block squares are added in another order than a CPU's.
std::vector<std::vector<double>> SquaredBlockNorms(const std::vector<Tensor>& gradients,
                                                   StreamHandle stream);
// Waits for the stream.
bool AllFinite(const std::vector<Tensor>& gradients, StreamHandle stream);

}  // namespace torus::parallel::cuda
