// AbsorbedRateSgd: momentum SGD in the form of which Goyal et al. 2017 warn (section 3, equation
// 10), without their correction. The learning rate is part of the momentum buffer:
//   u <- m u + rate g,  w <- w - u,
// So a gradient in the buffer keeps the rate of its own step, even when the rate changes later.
// parallel::Sgd uses equation 9 (v <- m v + g, w <- w - rate v), where the present rate applies to
// all gradients in the buffer. Both are the same as long as the rate is constant. The correction
// multiplies m by (new rate / old rate), which makes equation 10 equivalent to equation 9.
//
// It exists to show that difference.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parallel/optim/sgd.h"

namespace torus::labs {

class AbsorbedRateSgd : public parallel::Optimizer {
 public:
  AbsorbedRateSgd(std::vector<NamedVariable> parameters, const parallel::SgdOptions& options);

  // Throws BadInput unless the rate is above 0.
  void Step(double learning_rate, double gradient_scale = 1) override;
  std::vector<NamedTensor> State() const override { return inner_.State(); }
  // In the first step after it, the rate counts as unchanged.
  void LoadState(const std::vector<NamedTensor>& state) override;

 private:
  parallel::Sgd inner_;
  double last_rate_ = 0;  // 0: no step yet
};

}  // namespace torus::labs
