#include "models/nn/conv_transpose2d.h"

#include "runtime/error.h"

namespace torus::nn {

ConvTranspose2d::ConvTranspose2d(const ConvTranspose2dOptions& o)
    : options_{.stride = o.stride.dims(),
               .padding = o.padding.dims(),
               .output_padding = o.output_padding.dims(),
               .groups = o.groups,
               .dilation = o.dilation.dims()} {
  Require(o.in >= 1 && o.out >= 1 && o.groups >= 1 && o.in % o.groups == 0 && o.out % o.groups == 0,
          "conv_transpose2d", "groups must divide both channel counts, got {} -> {} in {} groups",
          o.in, o.out, o.groups);
  const int64_t width = o.out / o.groups;
  const Initializer usual = UniformFanIn(o.kernel.h * o.kernel.w * width);
  weight_ = AddParameter("weight", {o.in, o.kernel.h, o.kernel.w, width}, o.dtype,
                         o.weight_init ? o.weight_init : usual);
  if (o.bias) bias_ = AddParameter("bias", {o.out}, o.dtype, o.bias_init ? o.bias_init : usual);
}

Variable ConvTranspose2d::Forward(const Variable& x, const StepContext&) {
  RequireValues("conv_transpose2d", x);
  return ops::ConvTranspose2d(x, weight_, bias_, options_);
}

}  // namespace torus::nn
