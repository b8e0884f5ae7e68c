// The last layer of AmoebaNet-D.
#pragma once

#include <memory>
#include <vector>

#include "models/nn/global_average_pool.h"
#include "models/nn/linear.h"

namespace torus::amoebanet {

// The mean over all pixels, and a linear layer. Child "fc".
class Classifier : public nn::Module {
 public:
  Classifier(int64_t channels, int64_t classes, DType dtype);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // Reads the first of the two tensors that the last cell returns.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  nn::GlobalAveragePool pool_;
  std::shared_ptr<nn::Linear> linear_;
};

}  // namespace torus::amoebanet
