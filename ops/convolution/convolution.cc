#include "ops/convolution/convolution.h"

#include <algorithm>

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/channels/bias.h"
#include "ops/convolution/dense_kernel.h"
#include "ops/convolution/depthwise.h"
#include "ops/cpu/gemm.h"
#include "runtime/dry_run.h"

namespace torus::ops {
namespace {

using cpu::ConvGeometry;
using cpu::Transpose;

// Nothing to sum: the libraries need not see it.
bool Empty(const ConvGeometry& g) { return g.n == 0 || g.o == 0 || g.c == 0; }

template <class T>
void Forward(const ConvGeometry& g, const T* x, const T* weight, const T* bias, T* y) {
  if constexpr (std::is_same_v<T, float>) {
    if (g.pointwise()) {
      cpu::Gemm(Transpose::kNo, Transpose::kYes, g.input_rows(), g.o, g.c, 1.0f, x, g.c, weight,
                g.c, 0.0f, y, g.o);
      if (bias != nullptr) cpu::AddBias(bias, g.output_rows(), g.o, y);
      return;
    }
    if (g.depthwise()) return cpu::DepthwiseForward(g, x, weight, bias, y);
  }
  cpu::ConvForward(g, x, weight, bias, y);
}

template <class T>
void BackwardInput(const ConvGeometry& g, const T* dy, const T* weight, T* dx) {
  if constexpr (std::is_same_v<T, float>) {
    if (g.pointwise())
      return cpu::Gemm(Transpose::kNo, Transpose::kNo, g.input_rows(), g.c, g.o, 1.0f, dy, g.o,
                       weight, g.c, 0.0f, dx, g.c);
  }
  cpu::ConvBackwardInput(g, dy, weight, dx);
}

template <class T>
void BackwardWeight(const ConvGeometry& g, const T* x, const T* dy, T* dw) {
  if constexpr (std::is_same_v<T, float>) {
    if (g.pointwise())
      return cpu::Gemm(Transpose::kYes, Transpose::kNo, g.o, g.c, g.input_rows(), 1.0f, dy, g.o, x,
                       g.c, 0.0f, dw, g.c);
  }
  cpu::ConvBackwardWeight(g, x, dy, dw);
}

// Either gradient may be undefined.
template <class T>
void Backward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& dy,
              Tensor& dx, Tensor& dw) {
  T* const to_x = dx.defined() ? dx.mutable_data<T>() : nullptr;
  T* const to_weight = dw.defined() ? dw.mutable_data<T>() : nullptr;
  if (Empty(g)) {
    std::fill_n(to_x, to_x == nullptr ? 0 : dx.numel(), T(0));
    std::fill_n(to_weight, to_weight == nullptr ? 0 : dw.numel(), T(0));
    return;
  }
  const T *grad = dy.data<T>(), *in = x.data<T>(), *w = weight.data<T>();
  if constexpr (std::is_same_v<T, float>) {
    if (g.depthwise()) return cpu::DepthwiseBackward(g, in, grad, w, to_x, to_weight);
  }
  if (to_x != nullptr) BackwardInput(g, grad, w, to_x);
  if (to_weight != nullptr) BackwardWeight(g, in, grad, to_weight);
}

Gradients Rule(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
               const GradContext& context) {
  const Tensor& dy = context.grad();
  Gradients out(3);
  if (context.wants(0)) out[0] = Tensor(x.shape(), x.dtype());
  if (context.wants(1)) out[1] = Tensor(weight.shape(), weight.dtype());
  if (context.wants(2)) out[2] = Tensor({g.o}, weight.dtype());
  VisitCompute("conv2d", x.dtype(), [&]<class T>(ComputeType<T>) {
    if (out[0].defined() || out[1].defined()) Backward<T>(g, x, weight, dy, out[0], out[1]);
    if (out[2].defined())
      cpu::SumRows(dy.data<T>(), g.output_rows(), g.o, out[2].mutable_data<T>());
  });
  return out;
}

}  // namespace

Variable Conv2d(const Variable& x, const Variable& weight, const Variable& bias,
                const Conv2dOptions& options) {
  const ConvGeometry g = cpu::ConvGeometryOf(x.shape(), weight.shape(), options);
  Require(weight.dtype() == x.dtype(), "conv2d", "weight must be {}, got {}", Name(x.dtype()),
          Name(weight.dtype()));
  Require(!bias.defined() || (bias.shape() == Shape{g.o} && bias.dtype() == x.dtype()), "conv2d",
          "bias must be {} ({}), got {}", Name(x.dtype()), g.o, bias);
  const Tensor image = x.data().Contiguous(), filter = weight.data().Contiguous();
  const Tensor offset = bias.defined() ? bias.data().Contiguous() : Tensor();
  Tensor y({g.n, g.oh, g.ow, g.o}, x.dtype());
  VisitCompute("conv2d", x.dtype(), [&]<class T>(ComputeType<T>) {
    const T* const add = offset.defined() ? offset.data<T>() : nullptr;
    T* const out = y.mutable_data<T>();
    if (!Empty(g) && !InDryRun()) return Forward<T>(g, image.data<T>(), filter.data<T>(), add, out);
    std::fill_n(out, y.numel(), T(0));
    if (add != nullptr) cpu::AddBias(add, g.output_rows(), g.o, out);
  });
  return Record("conv2d", y, {x, weight, bias},
                [g, x = SavedActivation(image), w = Saved(filter)](const GradContext& context) {
                  return Rule(g, x.get(), w.get(), context);
                });
}

}  // namespace torus::ops
