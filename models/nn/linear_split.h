// How a linear layer is split over tensor-parallel ranks.
#pragma once

#include <cstdint>
#include <optional>

#include "autograd/variable.h"
#include "ops/elementwise/elementwise.h"
#include "ops/tensor_parallel/rank_sums.h"
#include "runtime/tensor_split.h"

namespace torus::nn {

// Shoeybi et al. 2019, arXiv:1909.08053, figure 3.
enum class LinearSplit {
  kNone,     // every rank has the whole layer
  kOutputs,  // by columns of W in x W: each rank has some outputs. Takes ops::CopyToRanks(x)
  kInputs,   // by rows: each has some inputs, and the outputs are summed over the ranks
};

// The split of a weight whose outputs are dimension `outputs` (0 or 1) and form `groups` groups.
inline std::optional<TensorSplit> SplitOfWeight(LinearSplit how, int outputs, int64_t groups) {
  if (how == LinearSplit::kNone) return std::nullopt;
  return TensorSplit{how == LinearSplit::kOutputs ? outputs : 1 - outputs, groups};
}

// The split of a bias: with the outputs, or whole on every rank.
inline std::optional<TensorSplit> SplitOfBias(LinearSplit how, int64_t groups) {
  if (how != LinearSplit::kOutputs) return std::nullopt;
  return TensorSplit{0, groups};
}

// Computes a layer's outputs. product(bias) computes them from this rank's part of the weight. If
// they are summed over ranks, the bias is added once, after the sum.
template <class Product>
Variable OutputsOf(LinearSplit how, const Variable& bias, const TensorRanks& ranks,
                   const Product& product) {
  if (how != LinearSplit::kInputs || ranks.size == 1) return product(bias);
  const Variable sum = ops::SumOverRanks(product(Variable()), ranks);
  return bias.defined() ? ops::Add(sum, bias) : sum;
}

}  // namespace torus::nn
