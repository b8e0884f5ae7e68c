#include "parallel/optim/finite_gradients.h"

#include "parallel/optim/kernels.h"

namespace torus::parallel {

bool GradientsAreFinite(const std::vector<NamedVariable>& parameters) {
  std::vector<Tensor> gradients;
  for (const NamedVariable& parameter : parameters)
    if (parameter.value.grad().defined()) gradients.push_back(parameter.value.grad().Contiguous());
  return kernels::AllFinite(gradients);
}

}  // namespace torus::parallel
