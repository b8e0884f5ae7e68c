#include "ops/convolution/convolution.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "autograd/undefined_input.h"
#include "ops/convolution/kernels.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/native.h"

namespace torus::ops {
namespace {

// The dtypes of the variables, and so of their gradients.
struct GradientTypes {
  DType weight, bias;
};

Gradients Rule(const ConvGeometry& g, const Tensor& x, const Tensor& weight, GradientTypes types,
               const GradContext& context) {
  const Tensor& dy = context.grad();
  Gradients out(3);
  if (context.wants(0)) out[0] = Tensor(x.shape(), x.dtype(), dy.device());
  const DType sum = SumTypeOf(x.dtype());
  if (context.wants(1)) out[1] = Tensor(weight.shape(), sum, dy.device());
  if (context.wants(2)) out[2] = Tensor({g.o}, sum, dy.device());
  kernels::ConvolutionBackward(g, x, weight, dy, out[0], out[1], out[2]);
  if (out[1].defined()) out[1] = out[1].To(types.weight);
  if (out[2].defined()) out[2] = out[2].To(types.bias);
  return out;
}

// `values` are the weight's values, in the dtype of x.
Variable ConvOf(const Variable& x, const Variable& weight, const Tensor& values,
                const Variable& bias, const Conv2dOptions& options) {
  const ConvGeometry g = ConvGeometryOf(x.shape(), weight.shape(), options);
  Require(!bias.defined() || bias.shape() == Shape{g.o}, "conv2d", "bias must be ({}), got {}", g.o,
          bias);
  const Tensor image = x.data().Contiguous(), filter = values.Contiguous();
  const Tensor offset =
      bias.defined() ? bias.data().To(SumTypeOf(x.dtype())).Contiguous() : Tensor();
  Tensor y({g.n, g.oh, g.ow, g.o}, x.dtype(), CommonDevice("conv2d", image, filter, offset));
  kernels::ConvolutionForward(g, image, filter, offset, y);
  const GradientTypes types{weight.dtype(), bias.defined() ? bias.dtype() : weight.dtype()};
  return Record(
      "conv2d", y, {x, weight, bias},
      [g, types, x = SavedActivation(image), w = Saved(filter)](const GradContext& context) {
        return Rule(g, x.get(), w.get(), types, context);
      });
}

void CheckTypes(const Variable& x, const Variable& weight, const Variable& bias) {
  Require(weight.dtype() == x.dtype(), "conv2d",
          "input is {}, weight {}: give the input the weight's type by ops::Cast", Name(x.dtype()),
          Name(weight.dtype()));
  Require(!bias.defined() || bias.dtype() == x.dtype(), "conv2d", "bias must be {}, got {}",
          Name(x.dtype()), bias);
}

}  // namespace

Variable Conv2d(const Variable& x, const Variable& weight, const Variable& bias,
                const Conv2dOptions& options) {
  RequireDefined("conv2d", x, weight);
  if (ComputesNatively("conv2d", x, weight, bias))
    return ConvOf(ToLow(x), weight, LowValues(weight), bias, options);
  return InPrecision(
      "conv2d",
      [&](const Variable& x, const Variable& weight, const Variable& bias) {
        CheckTypes(x, weight, bias);
        return ConvOf(x, weight, weight.data(), bias, options);
      },
      x, weight, bias);
}

}  // namespace torus::ops
