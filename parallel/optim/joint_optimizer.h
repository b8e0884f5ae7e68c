// JointOptimizer: several optimizers, each of some parameters, as one.
#pragma once

#include <memory>
#include <vector>

#include "parallel/optim/optimizer.h"

namespace torus::parallel {

// Its parameters and its state are those of the parts, one part after another. Every part gets the
// same learning rate; their groups' lr_scale makes others of it.
class JointOptimizer : public Optimizer {
 public:
  // Throws BadInput if two parts have parameters of one name.
  explicit JointOptimizer(std::vector<std::unique_ptr<Optimizer>> parts);

  void Step(double learning_rate, double gradient_scale = 1) override;
  std::vector<NamedTensor> State() const override;
  uint64_t StateBytes() const override;
  void LoadState(const std::vector<NamedTensor>& state) override;

 private:
  // The part that a state of this name belongs to: that of the longest parameter's name it starts
  // with, before a dot. Throws BadInput if there is none.
  size_t PartOf(const std::string& state) const;

  std::vector<std::unique_ptr<Optimizer>> parts_;
};

}  // namespace torus::parallel
