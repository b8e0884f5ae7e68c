// The last layer of the Vision Transformer: a classifier of the first token.
#pragma once

#include <memory>

#include "models/nn/linear.h"
#include "models/vit/vit.h"

namespace torus {

// Children "pre_logits", with tanh behind it, where there is a representation_size, and "head",
// which starts as zeros. Maps (N, tokens, hidden_dim) to logits (N, num_classes).
class VitHead : public nn::Module {
 public:
  explicit VitHead(const VitOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  std::shared_ptr<nn::Linear> representation_;  // may be null
  std::shared_ptr<nn::Linear> head_;
};

}  // namespace torus
