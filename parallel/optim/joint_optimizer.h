// JointOptimizer: several optimizers, each of some parameters, as one.
#pragma once

#include <map>
#include <memory>
#include <string>
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
  std::vector<std::unique_ptr<Optimizer>> parts_;
  std::map<std::string, size_t> part_of_;  // of each parameter
};

}  // namespace torus::parallel
