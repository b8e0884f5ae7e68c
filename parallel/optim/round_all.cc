#include "parallel/optim/round_all.h"

#include "parallel/optim/kernels.h"

namespace torus::parallel {

void RoundAll(const std::vector<Tensor>& from, std::vector<Tensor>& to) {
  kernels::RoundAll(from, to);
}

}  // namespace torus::parallel
