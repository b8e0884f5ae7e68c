#include "parallel/optim/finite_gradients.h"

#include <atomic>
#include <cstdint>

#include "parallel/optim/multi_tensor.h"
#include "runtime/non_finite.h"

namespace torus::parallel {

bool GradientsAreFinite(const std::vector<NamedVariable>& parameters) {
  std::vector<Tensor> gradients;
  std::vector<int64_t> sizes;
  for (const NamedVariable& parameter : parameters) {
    const Tensor& gradient = parameter.value.grad();
    if (!gradient.defined()) continue;
    gradients.push_back(gradient.Contiguous().Reshape({gradient.numel()}));
    sizes.push_back(gradient.numel());
  }
  std::atomic<bool> finite = true;
  ForEachPiece(sizes, [&](size_t i, int64_t begin, int64_t end) {
    if (CountNonFinite(gradients[i].Narrow(0, begin, end - begin)) > 0)
      finite.store(false, std::memory_order_relaxed);
  });
  return finite;
}

}  // namespace torus::parallel
