// Tries cuDNN first, else uses our own kernels: depthwise.h for one filter per channel, dense.h for
// the rest, and low_convolution.h on top of both for bf16 and f16.
#include "ops/convolution/cuda/cudnn_convolution.h"
#include "ops/convolution/cuda/dense.h"
#include "ops/convolution/cuda/depthwise.h"
#include "ops/convolution/cuda/low_convolution.h"
#include "ops/convolution/kernels.h"
#include "ops/cuda/cudnn/tensor_rules.h"
#include "ops/matmul/kernels.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/column_sums.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "conv2d";

template <class T>
void OwnForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                Tensor& y, StreamHandle stream) {
  const T *in = Elements<T>(x), *w = Elements<T>(weight), *add = ElementsOrNull<T>(bias);
  T* const out = MutableElements<T>(y);
  if (g.depthwise()) return DepthwiseForward(g, in, w, add, out, stream);
  DenseForward(g, in, w, add, out, stream);
}

template <class T>
void OwnBackwardInput(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, Tensor& dx,
                      StreamHandle stream) {
  const T *grad = Elements<T>(dy), *w = Elements<T>(weight);
  T* const to = MutableElements<T>(dx);
  if (g.depthwise()) return DepthwiseBackwardInput(g, grad, w, to, stream);
  DenseBackwardInput(g, grad, w, to, stream);
}

template <class T>
void OwnBackwardWeight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, Tensor& dw,
                       StreamHandle stream) {
  const T *in = Elements<T>(x), *grad = Elements<T>(dy);
  T* const to = MutableElements<T>(dw);
  if (g.depthwise()) return DepthwiseBackwardWeight(g, in, grad, to, dw.device(), stream);
  DenseBackwardWeight(g, in, grad, to, dw.device(), stream);
}

void BackwardInput(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, Tensor& dx,
                   StreamHandle stream) {
  if (CudnnBackwardInput(g, dy, weight, dx, stream)) return;
  if (IsLow(dy.dtype())) return LowBackwardInput(g, dy, weight, dx, stream);
  VisitCompute(kOp, dy.dtype(),
               [&]<class T>(ComputeType<T>) { OwnBackwardInput<T>(g, dy, weight, dx, stream); });
}

// dy^T x over matrices of pixels. cuDNN has no engine that gives it in f32 for 16-bit operands; and
// on an H100 the one that rounds takes ten times as long as a product.
void PointwiseWeight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, Tensor& dw) {
  Tensor matrix = dw.View({g.o, g.c});
  ProductOfTransposed(dy.View({g.input_rows(), g.o}), x.View({g.input_rows(), g.c}), matrix);
}

void BackwardWeight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, Tensor& dw,
                    StreamHandle stream) {
  if (g.pointwise() && IsLow(x.dtype())) return PointwiseWeight(g, x, dy, dw);
  if (CudnnBackwardWeight(g, x, dy, dw, stream)) return;
  if (IsLow(x.dtype())) return LowBackwardWeight(g, x, dy, dw, stream);
  VisitCompute(kOp, x.dtype(),
               [&]<class T>(ComputeType<T>) { OwnBackwardWeight<T>(g, x, dy, dw, stream); });
}

void BackwardBias(const ConvGeometry& g, const Tensor& dy, Tensor& dbias, StreamHandle stream) {
  if (IsLow(dy.dtype())) return SumLowPixels(g, dy, dbias, stream);
  VisitCompute(kOp, dy.dtype(), [&]<class T>(ComputeType<T>) {
    SumColumns(kOp, 1, g.output_rows(), g.o, LoadFrom<T>{Elements<T>(dy)}, 1,
               MutableElements<T>(dbias), dbias.device(), stream);
  });
}

}  // namespace

// Empty sums are 0, or the bias.
void ConvolutionForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  if (CudnnForward(g, x, weight, bias, y, stream)) return;
  if (IsLow(x.dtype())) return LowForward(g, x, weight, bias, y, stream);
  VisitCompute(kOp, x.dtype(),
               [&]<class T>(ComputeType<T>) { OwnForward<T>(g, x, weight, bias, y, stream); });
}

void ConvolutionBackward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                         const Tensor& dy, Tensor& dx, Tensor& dweight, Tensor& dbias) {
  const StreamHandle stream = CurrentStream(dy.device());
  if (dx.defined()) BackwardInput(g, dy, weight, dx, stream);
  if (dweight.defined()) BackwardWeight(g, x, dy, dweight, stream);
  if (dbias.defined()) BackwardBias(g, dy, dbias, stream);
}

}  // namespace torus::cuda
