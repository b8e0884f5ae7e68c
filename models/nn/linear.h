// Linear: x W^T + b.
#pragma once

#include <memory>
#include <vector>

#include "models/nn/dropout.h"
#include "models/nn/linear_split.h"
#include "models/nn/module.h"

namespace torus::nn {

// Defaults are torch.nn.Linear's. Members without a comment are its arguments; dtype is that of the
// parameters.
struct LinearOptions {
  int64_t in = 0, out = 0;       // in_features, out_features
  Initializer weight_init = {};  // none: PyTorch's, within 1 / sqrt(in) of zero
  Initializer bias_init = {};    // none: PyTorch's, within the same bound
  bool bias = true;
  DType dtype = DType::kF32;
  LinearSplit split = LinearSplit::kNone;  // over tensor-parallel ranks
};

// Parameters: weight (out, in), and bias (out) where there is one. Input (..., in).
class Linear : public Module {
 public:
  explicit Linear(const LinearOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

  // Forward(x) + residual, in the product (ops/matmul/linear_plus.h); of Forward after dropout only
  // where nothing is dropped.
  Variable ForwardAdd(const Variable& x, const Variable& residual, const StepContext& ctx);
  Variable ForwardAdd(const Variable& x, const Variable& residual, const Dropout& dropout,
                      const StepContext& ctx);

  // Forward of several layers of one input, in as few products as the device allows
  // (ops/matmul/joint_linear.h). None of them may be split by its inputs (linear_split.h).
  static std::vector<Variable> ForwardJointly(const std::vector<std::shared_ptr<Linear>>& layers,
                                              const Variable& x);

  // Read by fused ops.
  const Variable& weight() const { return weight_; }  // (out, in)
  const Variable& bias() const { return bias_; }      // undefined without

 private:
  LinearSplit split_;
  Variable weight_, bias_;
};

}  // namespace torus::nn
