#include "ops/convolution/conv_transpose.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "autograd/undefined_input.h"
#include "ops/convolution/conv_geometry.h"
#include "ops/convolution/kernels.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/elementwise.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/native.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "conv_transpose2d";

void CheckOptions(const ConvTranspose2dOptions& o) {
  for (const Dims* pair : {&o.stride, &o.padding, &o.output_padding, &o.dilation})
    Require(pair->rank() == 2, kOp, "stride, padding and dilation are pairs, got {}", *pair);
  for (int i = 0; i < 2; ++i) {
    Require(o.stride[i] >= 1 && o.dilation[i] >= 1 && o.padding[i] >= 0, kOp,
            "needs stride and dilation of 1 or more and padding of 0 or more, got {}, {}, {}",
            o.stride, o.dilation, o.padding);
    Require(o.output_padding[i] >= 0 && o.output_padding[i] < o.stride[i], kOp,
            "output_padding must be below the stride {}, got {}", o.stride, o.output_padding);
  }
}

int64_t SideOf(const ConvTranspose2dOptions& o, int i, int64_t in, int64_t kernel) {
  const int64_t out = (in - 1) * o.stride[i] - 2 * o.padding[i] + o.dilation[i] * (kernel - 1) +
                      o.output_padding[i] + 1;
  Require(out >= 1, kOp, "padding {} leaves nothing of an input of {} and a kernel of {}",
          o.padding, in, kernel);
  return out;
}

// The geometry of the convolution from the result to x.
ConvGeometry GeometryOf(const Shape& x, const Shape& weight, const ConvTranspose2dOptions& o) {
  CheckOptions(o);
  Require(x.rank() == 4 && weight.rank() == 4, kOp,
          "needs an image (N, H, W, C) and a weight (C, kH, kW, O / groups), got {} and {}", x,
          weight);
  Require(o.groups >= 1 && x[3] == weight[0] && weight[0] % o.groups == 0, kOp,
          "{} channels of images (N, H, W, C) {} do not fit weight {} in {} groups", x[3], x,
          weight, o.groups);
  Require(x[1] >= 1 && x[2] >= 1 && Numel(weight) > 0, kOp,
          "needs at least one pixel, filter and tap, got {} and {}", x, weight);
  const Shape result{x[0], SideOf(o, 0, x[1], weight[1]), SideOf(o, 1, x[2], weight[2]),
                     weight[3] * o.groups};
  return ConvGeometryOf(
      result, weight,
      {.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups});
}

Gradients Rule(const ConvGeometry& g, const Tensor& x, const Tensor& weight, DType weight_type,
               const GradContext& context) {
  const Tensor& dy = context.grad();
  Tensor dx, dweight, none;
  if (context.wants(0)) {
    dx = Tensor(x.shape(), x.dtype(), dy.device());
    kernels::ConvolutionForward(g, dy, weight, none, dx);
  }
  if (context.wants(1)) {
    dweight = Tensor(weight.shape(), SumTypeOf(x.dtype()), dy.device());
    kernels::ConvolutionBackward(g, dy, weight, x, none, dweight, none);
    dweight = dweight.To(weight_type);
  }
  return {dx, dweight};
}

// `values` are the weight's values, in the dtype of x.
Variable Transposed(const Variable& x, const Variable& weight, const Tensor& values,
                    const ConvTranspose2dOptions& options) {
  const ConvGeometry g = GeometryOf(x.shape(), weight.shape(), options);
  const Tensor filter = values.Contiguous();
  Tensor y({g.n, g.h, g.w, g.c}, x.dtype(), CommonDevice(kOp, x.data(), filter)), none;
  const Tensor image = x.data().Contiguous().To(y.device());  // the kernels' device is its own
  // The convolution's own input, which has the shape of y, is not read for this gradient.
  kernels::ConvolutionBackward(g, y, filter, image, y, none, none);
  return Record(
      "conv_transpose2d", y, {x, weight},
      [g, type = weight.dtype(), x = SavedActivation(image), w = Saved(filter)](
          const GradContext& context) { return Rule(g, x.get(), w.get(), type, context); });
}

Variable WithoutBias(const Variable& x, const Variable& weight,
                     const ConvTranspose2dOptions& options) {
  if (ComputesNatively("conv_transpose2d", x, weight))
    return Transposed(ToLow(x), weight, LowValues(weight), options);
  return InPrecision(
      "conv_transpose2d",
      [&](const Variable& x, const Variable& weight) {
        Require(weight.dtype() == x.dtype(), kOp,
                "input is {}, weight {}: give the input the weight's type by ops::Cast",
                Name(x.dtype()), Name(weight.dtype()));
        return Transposed(x, weight, weight.data(), options);
      },
      x, weight);
}

}  // namespace

Variable ConvTranspose2d(const Variable& x, const Variable& weight, const Variable& bias,
                         const ConvTranspose2dOptions& options) {
  RequireDefined(kOp, x, weight);
  const Variable y = WithoutBias(x, weight, options);
  if (!bias.defined()) return y;
  Require(bias.shape() == Shape{y.dim(-1)} && bias.dtype() == weight.dtype(), kOp,
          "bias must be {} ({}), got {}", Name(weight.dtype()), y.dim(-1), bias);
  return Add(y, Cast(bias, y.dtype()));
}

}  // namespace torus::ops
