#include "ops/matmul/joint_linear.h"

#include <algorithm>

#include "autograd/low_copy.h"
#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/matmul/affine.h"
#include "ops/matmul/linear.h"
#include "ops/precision/native.h"
#include "ops/view/join.h"
#include "runtime/dispatch.h"
#include "runtime/error.h"
#include "runtime/own_parts.h"

namespace torus::ops {
namespace {

bool IsTrainedLeaf(const Variable& v) {
  return v.defined() && v.is_leaf() && v.requires_grad() && v.dtype() == DType::kF32;
}

// Whether one product computes all. Its gradients then cover all weights and biases.
bool IsOneProduct(const Variable& input, const std::vector<Variable>& weights,
                  const std::vector<Variable>& biases) {
  const auto fits = [&](const Variable& w, const Variable& b) {
    return IsTrainedLeaf(w) && IsTrainedLeaf(b) && ComputesNatively("linear", input, w, b) &&
           CommonDevice("linear", input.data(), w.data(), b.data()).kind == DeviceKind::kCuda;
  };
  return weights.size() > 1 &&
         std::equal(weights.begin(), weights.end(), biases.begin(), biases.end(), fits);
}

bool WantsAny(const GradContext& g, int first, int count) {
  for (int i = first; i < first + count; ++i)
    if (g.wants(i)) return true;
  return false;
}

// Inputs: x, the weights, the biases.
Variable OneProduct(const Variable& x, const std::vector<Variable>& weights,
                    const std::vector<Variable>& biases, const std::vector<int64_t>& sizes) {
  const DType low = WithPrecision::Current();
  const Tensor rows = Rows(x.data());
  const Tensor w = JoinedLowCopyOf(weights, low), b = JoinedLowCopyOf(biases, low);
  Shape shape = x.shape();
  shape[shape.rank() - 1] = w.dim(0);
  Tensor out(shape, low, x.data().device());
  Tensor out_rows = Rows(out);
  TimesWeight(rows, w, b, WeightLayout::kOutIn, out_rows);
  std::vector<Variable> inputs{x};
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  inputs.insert(inputs.end(), biases.begin(), biases.end());
  return Record(
      "linear", std::move(out), inputs,
      [rows = SavedActivation(rows), w = Saved(x.requires_grad() ? w : Tensor()), shape = x.shape(),
       sizes](const GradContext& g) {
        const Tensor dy = Rows(g.grad());
        Gradients gradients(1);
        if (g.wants(0))
          gradients[0] = AffineInputGradient(g, dy, w.get(), WeightLayout::kOutIn, shape);
        const auto count = static_cast<int>(sizes.size());
        const bool weights = WantsAny(g, 1, count), biases = WantsAny(g, 1 + count, count);
        const AffineGradients own =
            AffineWeightGradients(dy, weights ? rows.get() : Tensor(), WeightLayout::kOutIn,
                                  {DType::kF32, DType::kF32}, weights, biases);
        for (const Tensor& whole : {own.weight, own.bias})
          for (Tensor& part : OwnParts(whole, sizes))
            gradients.push_back(g.wants(static_cast<int>(gradients.size())) ? part : Tensor());
        return gradients;
      });
}

}  // namespace

std::vector<Variable> JointLinear(const Variable& input, const std::vector<Variable>& weights,
                                  const std::vector<Variable>& biases) {
  Require(weights.size() == biases.size(), "linear", "needs a bias for each of {} weights, got {}",
          weights.size(), biases.size());
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < weights.size(); ++i) {
    AffineShape("linear", input.shape(), weights[i], biases[i], WeightLayout::kOutIn);
    sizes.push_back(weights[i].dim(0));
  }
  if (IsOneProduct(input, weights, biases))
    return Split(OneProduct(ToLow(input), weights, biases, sizes), sizes, -1);
  std::vector<Variable> outputs;
  for (size_t i = 0; i < weights.size(); ++i)
    outputs.push_back(Linear(input, weights[i], biases[i]));
  return outputs;
}

}  // namespace torus::ops
