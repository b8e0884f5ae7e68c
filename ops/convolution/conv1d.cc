#include "ops/convolution/conv1d.h"

#include "autograd/undefined_input.h"
#include "ops/convolution/conv_transpose.h"
#include "ops/convolution/convolution.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

// Calls f with both as images of height 1.
template <class F>
Variable AsImages(const char* op, const Variable& x, const Variable& weight, const F& f) {
  RequireDefined(op, x, weight);
  Require(x.rank() == 3 && weight.rank() == 3, op,
          "needs a sequence (N, L, C) and a weight of rank 3, got {} and {}", x.shape(),
          weight.shape());
  return Squeeze(f(Unsqueeze(x, 1), Unsqueeze(weight, 1)), {1});
}

}  // namespace

Variable Conv1d(const Variable& x, const Variable& weight, const Variable& bias,
                const Conv1dOptions& options) {
  return AsImages("conv1d", x, weight, [&](const Variable& image, const Variable& filter) {
    return Conv2d(image, filter, bias,
                  {.stride = {1, options.stride},
                   .padding = {0, options.padding},
                   .padding_mode = options.padding_mode,
                   .dilation = {1, options.dilation},
                   .groups = options.groups});
  });
}

Variable ConvTranspose1d(const Variable& x, const Variable& weight, const Variable& bias,
                         const ConvTranspose1dOptions& options) {
  return AsImages("conv_transpose1d", x, weight,
                  [&](const Variable& image, const Variable& filter) {
                    return ConvTranspose2d(image, filter, bias,
                                           {.stride = {1, options.stride},
                                            .padding = {0, options.padding},
                                            .output_padding = {0, options.output_padding},
                                            .groups = options.groups,
                                            .dilation = {1, options.dilation}});
                  });
}

}  // namespace torus::ops
