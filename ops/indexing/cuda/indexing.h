// Selection by index on a GPU; ops/indexing/kernels.h has the contracts.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::cuda {

// Waits for its result, or leaves that to DeferredChecks and replaces wrong indices: none may be
// used.
void CheckIndex(std::string_view op, int64_t bound, Tensor& index, StreamHandle stream);
void SelectRows(std::string_view op, const Tensor& x, const Tensor& index, Tensor& y,
                StreamHandle stream);
// Sorts the index, and adds each run of equal indices in order.
void AddRows(std::string_view op, const Tensor& dy, const Tensor& index, int64_t skip, Tensor& dx,
             StreamHandle stream);
void Gather(const Tensor& x, int dim, const Tensor& index, Tensor& y, StreamHandle stream);
// One thread adds a whole column; no other thread writes to it.
void GatherBackward(const Tensor& dy, int dim, const Tensor& index, Tensor& dx,
                    StreamHandle stream);

}  // namespace torus::cuda
