// The algorithm of a float convolution, chosen by the sizes alone.
#include "ops/convolution/cpu/dense.h"

#include "ops/convolution/cpu/dense_onednn.h"
#include "ops/convolution/cpu/small_image.h"
#include "ops/convolution/cpu/winograd.h"

namespace torus::cpu {

void ConvForward(const ConvGeometry& g, const float* x, const float* weight, const float* bias,
                 float* y) {
  if (SmallImageFits(g)) return SmallImageForward(g, x, weight, bias, y);
  if (WinogradFits(g)) return WinogradForward(g, x, weight, bias, y);
  OnednnForward(g, x, weight, bias, y);
}

void ConvBackwardInput(const ConvGeometry& g, const float* dy, const float* weight, float* dx) {
  if (SmallImageFits(g)) return SmallImageBackwardInput(g, dy, weight, dx);
  if (WinogradFits(g)) return WinogradBackwardInput(g, dy, weight, dx);
  OnednnBackwardInput(g, dy, weight, dx);
}

void ConvBackwardWeight(const ConvGeometry& g, const float* x, const float* dy, float* dw) {
  if (SmallImageFits(g)) return SmallImageBackwardWeight(g, x, dy, dw);
  if (WinogradFits(g)) return WinogradBackwardWeight(g, x, dy, dw);
  OnednnBackwardWeight(g, x, dy, dw);
}

}  // namespace torus::cpu
