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
  kOutputs,  // by columns of W in x W: each rank has some outputs. Its input is ops::CopyToRanks's
  kInputs,   // by rows: each has some inputs, and the outputs are summed over the ranks
};

// Of a weight, whose outputs lie along dimension `outputs` and its inputs along the other one, in
// `groups` runs.
inline std::optional<TensorSplit> SplitOfWeight(LinearSplit how, int outputs, int64_t groups) {
  if (how == LinearSplit::kNone) return std::nullopt;
  return TensorSplit{how == LinearSplit::kOutputs ? outputs : 1 - outputs, groups};
}

// Of a bias: with the outputs, or on every rank.
inline std::optional<TensorSplit> SplitOfBias(LinearSplit how, int64_t groups) {
  if (how != LinearSplit::kOutputs) return std::nullopt;
  return TensorSplit{0, groups};
}

// A layer's outputs from product(bias), which computes what the rank's part of the weight gives. A
// bias behind a sum over ranks is added once.
template <class Product>
Variable OutputsOf(LinearSplit how, const Variable& bias, const TensorRanks& ranks,
                   const Product& product) {
  if (how != LinearSplit::kInputs || ranks.size == 1) return product(bias);
  const Variable sum = ops::SumOverRanks(product(Variable()), ranks);
  return bias.defined() ? ops::Add(sum, bias) : sum;
}

}  // namespace torus::nn
