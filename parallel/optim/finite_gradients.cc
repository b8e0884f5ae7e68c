#include "parallel/optim/finite_gradients.h"

#include <algorithm>

#include "parallel/optim/kernels.h"

namespace torus::parallel {

Tensor StartFiniteCheck(const std::vector<NamedVariable>& parameters) {
  std::vector<Tensor> gradients;
  for (const NamedVariable& parameter : parameters)
    if (parameter.value.grad().defined()) gradients.push_back(parameter.value.grad().Contiguous());
  Tensor found = OneForEachBlock(gradients, DType::kI32);
  if (found.numel() > 0) kernels::FindNonFinite(gradients, found);
  return found;
}

bool IsFinite(const Tensor& started) {
  return std::ranges::all_of(ToVector<int32_t>(started), [](int32_t found) { return found == 0; });
}

bool GradientsAreFinite(const std::vector<NamedVariable>& parameters) {
  return IsFinite(StartFiniteCheck(parameters));
}

}  // namespace torus::parallel
