// Gpt2Linear: the linear layer x W + b with the weight stored as (in, out), as in GPT-2's files.
// transformers calls it Conv1D.
#pragma once

#include "models/nn/dropout.h"
#include "models/nn/linear_split.h"
#include "models/nn/module.h"

namespace torus {

struct Gpt2LinearOptions {
  int64_t in = 0, out = 0;
  double stddev = 0.02;
  bool bias = true;
  DType dtype = DType::kF32;
  nn::LinearSplit split = nn::LinearSplit::kNone;
  int64_t groups = 1;  // of outputs, each split separately: queries, keys and values
};

// Parameters: weight (in, out), normal; bias (out), zeros, if enabled. Input (..., in).
class Gpt2Linear : public nn::Module {
 public:
  explicit Gpt2Linear(const Gpt2LinearOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

  // Forward(x) + residual, in the product (ops/matmul/linear_plus.h); of Forward after dropout only
  // where nothing is dropped.
  Variable ForwardAdd(const Variable& x, const Variable& residual, const StepContext& ctx);
  Variable ForwardAdd(const Variable& x, const Variable& residual, const nn::Dropout& dropout,
                      const StepContext& ctx);

  // Read by fused ops.
  const Variable& weight() const { return weight_; }
  const Variable& bias() const { return bias_; }  // undefined without

 private:
  nn::LinearSplit split_;
  Variable weight_, bias_;
};

}  // namespace torus
