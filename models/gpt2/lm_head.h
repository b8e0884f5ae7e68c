// LmHead: the last layer of GPT-2, a product with the token embedding or with a matrix of its own.
#pragma once

#include <string>

#include "models/nn/module.h"

namespace torus {

// Parameter: weight (vocabulary, width). Input (..., width).
class LmHead : public nn::Module {
 public:
  // Tied to `embedding` (vocabulary, width), whose name in the model is `owner`.
  LmHead(const Variable& embedding, const std::string& owner, bool in_loss);
  // With a matrix of its own, initially normal.
  LmHead(int64_t vocabulary, int64_t width, double stddev, bool in_loss, DType dtype);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // {logits}, or with `in_loss` {activation, weight}, which nn::NextTokenLoss multiplies; of a
  // split model what nn::SplitNextTokenLoss takes. A mask among the inputs is dropped.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  void OnSplit(const TensorPlace& place) override;

  bool in_loss_;
  int64_t vocabulary_;
  Variable weight_;
};

}  // namespace torus
