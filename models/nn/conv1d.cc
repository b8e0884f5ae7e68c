#include "models/nn/conv1d.h"

#include "runtime/error.h"

namespace torus::nn {

Conv1d::Conv1d(const Conv1dOptions& o)
    : options_{
          .stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups} {
  Require(o.in >= 1 && o.out >= 1 && o.groups >= 1 && o.in % o.groups == 0 && o.out % o.groups == 0,
          "conv1d", "groups must divide both channel counts, got {} -> {} in {} groups", o.in,
          o.out, o.groups);
  const Initializer usual = UniformFanIn(o.kernel * (o.in / o.groups));
  weight_ = AddParameter("weight", {o.out, o.kernel, o.in / o.groups}, o.dtype,
                         o.weight_init ? o.weight_init : usual);
  if (o.bias) bias_ = AddParameter("bias", {o.out}, o.dtype, o.bias_init ? o.bias_init : usual);
}

Variable Conv1d::Forward(const Variable& x, const StepContext&) {
  RequireValues("conv1d", x);
  return ops::Conv1d(x, weight_, bias_, options_);
}

}  // namespace torus::nn
