// f32: a matrix product for 1 x 1, a special kernel for depthwise ones, dense.h for the rest.
#include <algorithm>

#include "ops/convolution/cpu/dense.h"
#include "ops/convolution/cpu/depthwise.h"
#include "ops/convolution/cpu/low_convolution.h"
#include "ops/convolution/kernels.h"
#include "ops/cpu/bias.h"
#include "ops/cpu/elements.h"
#include "ops/cpu/gemm.h"

namespace torus::cpu {
namespace {

template <class T>
void ForwardAs(const ConvGeometry& g, const T* x, const T* weight, const T* bias, T* y) {
  if constexpr (std::is_same_v<T, float>) {
    if (g.pointwise()) {
      Gemm(Transpose::kNo, Transpose::kYes, g.input_rows(), g.o, g.c, 1.0f, x, g.c, weight, g.c,
           0.0f, y, g.o);
      if (bias != nullptr) AddBias(bias, g.output_rows(), g.o, y);
      return;
    }
    if (g.depthwise()) return DepthwiseForward(g, x, weight, bias, y);
  }
  ConvForward(g, x, weight, bias, y);
}

template <class T>
void BackwardInput(const ConvGeometry& g, const T* dy, const T* weight, T* dx) {
  if constexpr (std::is_same_v<T, float>) {
    if (g.pointwise())
      return Gemm(Transpose::kNo, Transpose::kNo, g.input_rows(), g.c, g.o, 1.0f, dy, g.o, weight,
                  g.c, 0.0f, dx, g.c);
  }
  ConvBackwardInput(g, dy, weight, dx);
}

template <class T>
void BackwardWeight(const ConvGeometry& g, const T* x, const T* dy, T* dw) {
  if constexpr (std::is_same_v<T, float>) {
    if (g.pointwise())
      return Gemm(Transpose::kYes, Transpose::kNo, g.o, g.c, g.input_rows(), 1.0f, dy, g.o, x, g.c,
                  0.0f, dw, g.c);
  }
  ConvBackwardWeight(g, x, dy, dw);
}

template <class T>
void BackwardAs(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& dy,
                Tensor& dx, Tensor& dw) {
  T* const to_x = MutableElementsOrNull<T>(dx);
  T* const to_weight = MutableElementsOrNull<T>(dw);
  if (g.empty()) {
    std::fill_n(to_x, to_x == nullptr ? 0 : dx.numel(), T(0));
    std::fill_n(to_weight, to_weight == nullptr ? 0 : dw.numel(), T(0));
    return;
  }
  const T *grad = dy.data<T>(), *in = x.data<T>(), *w = weight.data<T>();
  if constexpr (std::is_same_v<T, float>) {
    if (g.depthwise()) return DepthwiseBackward(g, in, grad, w, to_x, to_weight);
  }
  if (to_x != nullptr) BackwardInput(g, grad, w, to_x);
  if (to_weight != nullptr) BackwardWeight(g, in, grad, to_weight);
}

}  // namespace

void ConvolutionForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, Tensor& y) {
  if (x.dtype() == DType::kBF16) return LowConvolutionForward(g, x, weight, bias, y);
  VisitCompute("conv2d", x.dtype(), [&]<class T>(ComputeType<T>) {
    const T* const add = ElementsOrNull<T>(bias);
    T* const out = y.mutable_data<T>();
    if (!g.empty()) return ForwardAs<T>(g, x.data<T>(), weight.data<T>(), add, out);
    std::fill_n(out, y.numel(), T(0));
    if (add != nullptr) AddBias(add, g.output_rows(), g.o, out);
  });
}

void ConvolutionBackward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                         const Tensor& dy, Tensor& dx, Tensor& dweight, Tensor& dbias) {
  if (x.dtype() == DType::kBF16)
    return LowConvolutionBackward(g, x, weight, dy, dx, dweight, dbias);
  VisitCompute("conv2d", x.dtype(), [&]<class T>(ComputeType<T>) {
    if (dx.defined() || dweight.defined()) BackwardAs<T>(g, x, weight, dy, dx, dweight);
    if (dbias.defined()) SumRows(dy.data<T>(), g.output_rows(), g.o, dbias.mutable_data<T>());
  });
}

}  // namespace torus::cpu
