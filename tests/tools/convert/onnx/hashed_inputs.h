// Inputs of models that are hashes, as our models take them.
#pragma once

#include <vector>

#include "models/descriptor.h"
#include "tests/models/hashed_values.h"

namespace torus::onnx::testing {

// Images (2, height, width, 3) of f32.
inline Tensor HashedImages(int64_t height, int64_t width) {
  return torus::testing::HashedTensor("images", {2, height, width, 3}, 3, 0, DType::kF32);
}

// Three texts of `length` tokens of a vocabulary. With `padding` (at least 0) row r ends in r such
// tokens, no other token is one, and a mask (N, T) follows.
inline std::vector<Tensor> HashedTexts(int64_t length, int64_t vocabulary, int64_t padding = -1) {
  std::vector<int64_t> ids, mask;
  for (int64_t i = 0; i < 3 * length; ++i) {
    const bool real = padding < 0 || i % length < length - i / length;
    const int64_t token = 2 + i * 7 % (vocabulary - 2);
    ids.push_back(real ? token : padding);
    mask.push_back(real);
  }
  std::vector<Tensor> inputs{FromVector(ids, {3, length})};
  if (padding >= 0) inputs.push_back(FromVector(mask, {3, length}));
  return inputs;
}

// The same as a graph of ONNX takes them: images as (N, C, H, W).
inline std::vector<Tensor> ToGraph(std::vector<Tensor> inputs) {
  for (Tensor& input : inputs)
    if (input.rank() == 4) input = input.Permute({0, 3, 1, 2}).Contiguous();
  return inputs;
}

}  // namespace torus::onnx::testing
