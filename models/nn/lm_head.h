// LmHead: the last layer of a language model, a linear layer with the token embedding or a matrix
// of its own as weight.
#pragma once

#include <string>

#include "models/nn/module.h"

namespace torus::nn {

// Parameter: weight (vocabulary, width). Input (..., width).
class LmHead : public Module {
 public:
  // Shares the weight `embedding` (vocabulary, width), whose name in the model is `owner`.
  LmHead(const Variable& embedding, const std::string& owner, bool in_loss);
  // With its own weight, initialized from a normal distribution.
  LmHead(int64_t vocabulary, int64_t width, double stddev, bool in_loss, DType dtype);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // Returns {logits}, or with `in_loss` {activation, weight}, which NextTokenLoss multiplies. A
  // split model returns the inputs of SplitNextTokenLoss. Drops a mask among the inputs.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  void OnSplit(const TensorPlace& place) override;

  bool in_loss_;
  int64_t vocabulary_;
  Variable weight_;
};

}  // namespace torus::nn
