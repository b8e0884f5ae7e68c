#include "models/nn/group_norm.h"

#include "ops/layer_norm/group_norm.h"
#include "runtime/error.h"

namespace torus::nn {

GroupNorm::GroupNorm(const GroupNormOptions& o) : options_(o) {
  Require(o.groups >= 1 && o.channels >= 1 && o.channels % o.groups == 0, "group_norm",
          "groups must divide the channels, got {} channels in {} groups", o.channels, o.groups);
  if (!o.affine) return;
  weight_ = AddParameter("weight", {o.channels}, o.dtype, Constant(1));
  bias_ = AddParameter("bias", {o.channels}, o.dtype, Constant(0));
}

Variable GroupNorm::Forward(const Variable& x, const StepContext&) {
  RequireValues("group_norm", x);
  return ops::GroupNorm(x, options_.groups, weight_, bias_, options_.eps);
}

}  // namespace torus::nn
