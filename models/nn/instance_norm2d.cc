#include "models/nn/instance_norm2d.h"

#include "ops/layer_norm/group_norm.h"
#include "runtime/error.h"

namespace torus::nn {

InstanceNorm2d::InstanceNorm2d(const InstanceNorm2dOptions& o) : options_(o) {
  Require(o.channels >= 1, "instance_norm", "needs at least one channel, got {}", o.channels);
  if (!o.affine) return;
  weight_ = AddParameter("weight", {o.channels}, o.dtype, Constant(1));
  bias_ = AddParameter("bias", {o.channels}, o.dtype, Constant(0));
}

Variable InstanceNorm2d::Forward(const Variable& x, const StepContext&) {
  Require(x.rank() == 4 && x.dim(-1) == options_.channels, "instance_norm",
          "needs images (N, H, W, {}), got {}", options_.channels, x.shape());
  return ops::InstanceNorm(x, weight_, bias_, options_.eps);
}

}  // namespace torus::nn
