// Models with weights and running statistics that are hashes of their names.
#pragma once

#include <memory>

#include "models/checkpoint/state_dict.h"
#include "models/nn/sequential.h"
#include "runtime/kernels.h"
#include "tests/models/hashed_values.h"

namespace torus::onnx::testing {

// Means near 0, variances near 1, so that a norm that was left out shows.
inline void FillStatistics(nn::Module& model) {
  for (NamedTensor& buffer : model.Buffers()) {
    const bool variance = buffer.name.ends_with("running_var");
    const DType dtype = buffer.value.dtype();
    Copy(torus::testing::HashedTensor(buffer.name, buffer.value.shape(),
                                      IsFloating(dtype) ? 0.4 : 0, variance ? 1 : 0, dtype),
         buffer.value);
  }
}

inline std::vector<NamedTensor> HashedState(nn::Module& model) {
  model.Allocate();
  torus::testing::FillHashed(model);
  FillStatistics(model);
  return StateDict(model);
}

}  // namespace torus::onnx::testing
