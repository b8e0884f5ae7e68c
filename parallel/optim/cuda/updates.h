// The optimizers' kernels on a GPU: one launch over the tensors of all parameters of a dtype.
// parallel/optim/kernels.h has the contracts.
#pragma once

#include <vector>

#include "parallel/optim/update_items.h"

namespace torus::parallel::cuda {

// These give the same bits as the CPU's kernels.
void SgdStep(std::vector<SgdItem>& items, const StepScalars<SgdScalars>& scalars,
             StreamHandle stream);
void AdamStep(std::vector<AdamItem>& items, const StepScalars<AdamScalars>& scalars,
              StreamHandle stream);

void RoundAll(const std::vector<Tensor>& from, std::vector<Tensor>& to, StreamHandle stream);
void MoveTowards(const std::vector<Tensor>& weights, double share, std::vector<Tensor>& averages,
                 StreamHandle stream);

// Adds the squares of a block in another order than the CPU's kernel.
void SquaredBlockNorms(const std::vector<Tensor>& gradients, Tensor& sums, StreamHandle stream);
void FindNonFinite(const std::vector<Tensor>& gradients, Tensor& found, StreamHandle stream);

}  // namespace torus::parallel::cuda
