// LmHead: logits of the next token, by a matrix that is the token embedding's where it is tied.
#pragma once

#include <string>

#include "models/nn/module.h"

namespace torus {

// Parameter: weight (vocabulary, width). Input (..., width).
class LmHead : public nn::Module {
 public:
  // Tied to `embedding`, whose name in the model is `owner`.
  LmHead(const Variable& embedding, const std::string& owner);
  // With a matrix of its own, normal.
  LmHead(int64_t vocabulary, int64_t width, double stddev, DType dtype);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // From here on the head is a part of the loss: ForwardAll gives {activation, weight} for
  // NextTokenLoss, which never holds all logits.
  void LeaveToLoss() { in_loss_ = true; }
  // What travels along ends here.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;
  nn::LayerCost Cost(const Shape& input) const override;

 private:
  bool in_loss_ = false;
  Variable weight_;
};

}  // namespace torus
