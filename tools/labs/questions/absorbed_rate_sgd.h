// AbsorbedRateSgd: momentum SGD as Goyal et al. 2017 (section 3, equation 10) warn of it, without
// their correction: the learning rate is a part of the momentum buffer,
//   u <- m u + rate g,  w <- w - u,
// so that a gradient keeps the rate of the step in which it came, and a rate that changes is out of
// balance with the buffer. parallel::Sgd has equation 9 (v <- m v + g, w <- w - rate v), in which
// every gradient counts by the rate of now; the two are the same while the rate stays. The
// correction multiplies m by the new rate over the old one, and makes equation 10 equation 9 again.
//
// It is for showing that difference.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parallel/optim/sgd.h"

namespace torus::labs {

class AbsorbedRateSgd : public parallel::Optimizer {
 public:
  AbsorbedRateSgd(std::vector<NamedVariable> parameters, const parallel::SgdOptions& options);

  // BadInput unless the rate is above 0.
  void Step(double learning_rate, double gradient_scale = 1) override;
  std::vector<NamedTensor> State() const override { return inner_.State(); }
  // The first step after it counts as one whose rate did not change.
  void LoadState(const std::vector<NamedTensor>& state) override;

 private:
  parallel::Sgd inner_;
  double last_rate_ = 0;  // 0: no step yet
};

}  // namespace torus::labs
