#include "ops/convolution/cpu/low_convolution.h"

#include "ops/convolution/cpu/dense_onednn.h"
#include "ops/convolution/cpu/depthwise.h"
#include "ops/convolution/cpu/small_image.h"
#include "ops/convolution/cpu/winograd.h"
#include "ops/cpu/bias.h"
#include "ops/cpu/elements.h"
#include "ops/cpu/multiply.h"
#include "runtime/kernels.h"

namespace torus::cpu {
namespace {

using Low = BFloat16;

// Calls compute(float* of the tensor's size) and rounds the result to `out` once.
template <class Compute>
void Rounded(Tensor& out, const Compute& compute) {
  Tensor full(out.shape(), DType::kF32);
  compute(full.mutable_data<float>());
  Copy(full, out);
}

void Forward(const ConvGeometry& g, const Low* x, const Low* weight, const float* bias, Tensor& y) {
  if (g.pointwise())
    return LowGemm(Transpose::kNo, Transpose::kYes, g.input_rows(), g.o, g.c, x, g.c, weight, g.c,
                   bias, false, y.mutable_data<Low>(), g.o);
  if (SmallImageFits(g))
    return Rounded(y, [&](float* out) { SmallImageForward(g, x, weight, bias, out); });
  OnednnForward(g, x, weight, bias, y.mutable_data<Low>());
}

void BackwardInput(const ConvGeometry& g, const Low* dy, const Low* weight, Tensor& dx) {
  if (g.pointwise())
    return LowGemm<Low>(Transpose::kNo, Transpose::kNo, g.input_rows(), g.c, g.o, dy, g.o, weight,
                        g.c, nullptr, false, dx.mutable_data<Low>(), g.c);
  if (SmallImageFits(g))
    return Rounded(dx, [&](float* out) { SmallImageBackwardInput(g, dy, weight, out); });
  OnednnBackwardInput(g, dy, weight, dx.mutable_data<Low>());
}

void BackwardWeight(const ConvGeometry& g, const Low* x, const Low* dy, float* dw) {
  if (g.pointwise())
    return LowGemm<float>(Transpose::kYes, Transpose::kNo, g.o, g.c, g.input_rows(), dy, g.o, x,
                          g.c, nullptr, false, dw, g.c);
  if (SmallImageFits(g)) return SmallImageBackwardWeight(g, x, dy, dw);
  OnednnBackwardWeight(g, x, dy, dw);
}

Tensor Wide(const Tensor& t) { return t.To(DType::kF32); }

// Winograd's algorithm is not implemented in bf16, and in f32 it is faster than direct products in
// bf16.
bool GradientsInF32(const ConvGeometry& g) {
  return g.depthwise() || (WinogradFits(g) && !SmallImageFits(g));
}

// Computes from widened inputs; dx is rounded once.
void WideGradients(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& dy,
                   Tensor& dx, Tensor& dweight) {
  const Tensor in = Wide(x), gradient = Wide(dy), filter = Wide(weight);
  Tensor full = dx.defined() ? Tensor(dx.shape(), DType::kF32) : Tensor();
  const auto *rows = in.data<float>(), *sent = gradient.data<float>(), *w = filter.data<float>();
  float* const to_x = MutableElementsOrNull<float>(full);
  float* const to_weight = MutableElementsOrNull<float>(dweight);
  if (g.depthwise()) {
    DepthwiseBackward(g, rows, sent, w, to_x, to_weight);
  } else {
    if (to_x != nullptr) WinogradBackwardInput(g, sent, w, to_x);
    if (to_weight != nullptr) WinogradBackwardWeight(g, rows, sent, to_weight);
  }
  if (dx.defined()) Copy(full, dx);
}

}  // namespace

void LowConvolutionForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                           const Tensor& bias, Tensor& y) {
  const float* const add = ElementsOrNull<float>(bias);
  if (g.empty()) {
    if (bias.defined()) return Copy(bias.Expand(y.shape()), y);
    return Fill(y, 0);
  }
  if (!g.depthwise()) return Forward(g, x.data<Low>(), weight.data<Low>(), add, y);
  const Tensor in = Wide(x), filter = Wide(weight);
  Rounded(y, [&](float* out) {
    DepthwiseForward(g, in.data<float>(), filter.data<float>(), add, out);
  });
}

void LowConvolutionBackward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                            const Tensor& dy, Tensor& dx, Tensor& dweight, Tensor& dbias) {
  if (dbias.defined()) SumRows(dy.data<Low>(), g.output_rows(), g.o, dbias.mutable_data<float>());
  if (g.empty()) {
    for (Tensor* gradient : {&dx, &dweight})
      if (gradient->defined()) Fill(*gradient, 0);
    return;
  }
  if (GradientsInF32(g)) {
    if (dx.defined() || dweight.defined()) WideGradients(g, x, weight, dy, dx, dweight);
    return;
  }
  if (dx.defined()) BackwardInput(g, dy.data<Low>(), weight.data<Low>(), dx);
  if (dweight.defined())
    BackwardWeight(g, x.data<Low>(), dy.data<Low>(), dweight.mutable_data<float>());
}

}  // namespace torus::cpu
