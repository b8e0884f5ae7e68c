#include "models/nn/conv2d.h"

#include "ops/convolution/convolution.h"
#include "runtime/error.h"

namespace torus::nn {

Conv2d::Conv2d(const Conv2dOptions& o) : options_(o) {
  Require(o.in >= 1 && o.out >= 1 && o.groups >= 1 && o.in % o.groups == 0 && o.out % o.groups == 0,
          "conv2d", "groups must divide both channel counts, got {} -> {} in {} groups", o.in,
          o.out, o.groups);
  const int64_t width = o.in / o.groups;
  const Initializer usual = UniformFanIn(o.kernel.h * o.kernel.w * width);
  weight_ = AddParameter("weight", {o.out, o.kernel.h, o.kernel.w, width}, o.dtype,
                         o.weight_init ? o.weight_init : usual);
  if (o.bias) bias_ = AddParameter("bias", {o.out}, o.dtype, o.bias_init ? o.bias_init : usual);
}

ops::Conv2dOptions Conv2d::geometry() const {
  return {.stride = options_.stride.dims(),
          .padding = options_.padding.dims(),
          .dilation = options_.dilation.dims(),
          .groups = options_.groups};
}

Variable Conv2d::Forward(const Variable& x, const StepContext&) {
  RequireValues("conv2d", x);
  return ops::Conv2d(x, weight_, bias_, geometry());
}

}  // namespace torus::nn
