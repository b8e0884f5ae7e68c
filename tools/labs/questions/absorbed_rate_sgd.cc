#include "tools/labs/questions/absorbed_rate_sgd.h"

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::labs {

AbsorbedRateSgd::AbsorbedRateSgd(std::vector<NamedVariable> parameters,
                                 const parallel::SgdOptions& options)
    : Optimizer("sgd", parameters), inner_(std::move(parameters), options) {}

// With v = u / rate equation 10 reads v <- m (old rate / new rate) v + g, w <- w - new rate v: the
// inner optimizer's step behind a buffer that is scaled first.
void AbsorbedRateSgd::Step(double learning_rate, double gradient_scale) {
  Require(learning_rate > 0, "sgd", "the learning rate must be above 0, got {}", learning_rate);
  if (last_rate_ != 0 && last_rate_ != learning_rate)
    for (NamedTensor& buffer : inner_.State())
      ScaleInPlace(buffer.value, last_rate_ / learning_rate);
  last_rate_ = learning_rate;
  inner_.Step(learning_rate, gradient_scale);
}

void AbsorbedRateSgd::LoadState(const std::vector<NamedTensor>& state) {
  inner_.LoadState(state);
  last_rate_ = 0;
}

}  // namespace torus::labs
