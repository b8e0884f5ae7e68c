#include "ops/convolution/convolution.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/convolution/kernels.h"
#include "ops/precision/in_precision.h"

namespace torus::ops {
namespace {

Gradients Rule(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
               const GradContext& context) {
  const Tensor& dy = context.grad();
  Gradients out(3);
  if (context.wants(0)) out[0] = Tensor(x.shape(), x.dtype(), dy.device());
  if (context.wants(1)) out[1] = Tensor(weight.shape(), weight.dtype(), dy.device());
  if (context.wants(2)) out[2] = Tensor({g.o}, weight.dtype(), dy.device());
  kernels::ConvolutionBackward(g, x, weight, dy, out[0], out[1], out[2]);
  return out;
}

}  // namespace

Variable Conv2d(const Variable& x, const Variable& weight, const Variable& bias,
                const Conv2dOptions& options) {
  return InPrecision(
      "conv2d",
      [&](const Variable& x, const Variable& weight, const Variable& bias) {
        const ConvGeometry g = ConvGeometryOf(x.shape(), weight.shape(), options);
        Require(weight.dtype() == x.dtype(), "conv2d", "weight must be {}, got {}", Name(x.dtype()),
                Name(weight.dtype()));
        Require(!bias.defined() || (bias.shape() == Shape{g.o} && bias.dtype() == x.dtype()),
                "conv2d", "bias must be {} ({}), got {}", Name(x.dtype()), g.o, bias);
        const Tensor image = x.data().Contiguous(), filter = weight.data().Contiguous();
        const Tensor offset = bias.defined() ? bias.data().Contiguous() : Tensor();
        Tensor y({g.n, g.oh, g.ow, g.o}, x.dtype(), CommonDevice("conv2d", image, filter, offset));
        kernels::ConvolutionForward(g, image, filter, offset, y);
        return Record(
            "conv2d", y, {x, weight, bias},
            [g, x = SavedActivation(image), w = Saved(filter)](const GradContext& context) {
              return Rule(g, x.get(), w.get(), context);
            });
      },
      x, weight, bias);
}

}  // namespace torus::ops
