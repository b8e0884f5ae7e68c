#include "ops/convolution/cuda/dense.h"
#include "ops/convolution/cuda/depthwise.h"
#include "ops/convolution/cuda/low_convolution.h"
#include "runtime/cuda/elements.h"
#include "runtime/element_cast.h"
#include "runtime/kernels.h"
//
#include "runtime/cuda/column_sums.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "conv2d";

// Calls f(T()) with the storage type T of f32, bf16 or f16.
template <class F>
void VisitStored(DType dtype, const F& f) {
  if (dtype == DType::kF32) return f(float{});
  if (dtype == DType::kBF16) return f(BFloat16{});
  Require(dtype == DType::kF16, kOp, "needs f32, bf16 or f16, got {}", Name(dtype));
  f(Float16{});
}

template <class T>
struct PlusBias {
  int64_t filters;
  const float* bias;
  T* y;
  __device__ void operator()(int64_t i) const {
    const float sum = ElementCast<float, T>()(y[i]) + bias[Divide(i, filters).rest];
    y[i] = ElementCast<T, float>()(sum);
  }
};

Tensor Widened(const Tensor& t) { return t.To(DType::kF32); }

// Calls compute(float* of the tensor's size) and rounds the result to `out` once; without a copy if
// `out` is f32.
template <class Compute>
void Rounded(Tensor& out, const Compute& compute) {
  if (out.dtype() == DType::kF32) return compute(MutableElements<float>(out));
  Tensor full(out.shape(), DType::kF32, out.device());
  compute(MutableElements<float>(full));
  Copy(full, out);
}

}  // namespace

void AddBias(const Tensor& bias, Tensor& y, StreamHandle stream) {
  VisitStored(y.dtype(), [&]<class T>(T) {
    ForEach(kOp, y.numel(), stream,
            PlusBias<T>{bias.numel(), Elements<float>(bias), MutableElements<T>(y)});
  });
}

void SumLowPixels(const ConvGeometry& g, const Tensor& dy, Tensor& sum, StreamHandle stream) {
  VisitStored(dy.dtype(), [&]<class T>(T) {
    SumColumns(kOp, 1, g.output_rows(), g.o, LoadWide<float, T>{Elements<T>(dy)}, 1,
               MutableElements<float>(sum), sum.device(), stream);
  });
}

void LowForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                Tensor& y, StreamHandle stream) {
  const float* const add = ElementsOrNull<float>(bias);
  if (g.depthwise())
    return VisitStored(x.dtype(), [&]<class T>(T) {
      DepthwiseForward(g, Elements<T>(x), Elements<T>(weight), add, MutableElements<T>(y), stream);
    });
  const Tensor in = Widened(x), filter = Widened(weight);
  Rounded(y, [&](float* out) {
    DenseForward(g, Elements<float>(in), Elements<float>(filter), add, out, stream);
  });
}

void LowBackwardInput(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, Tensor& dx,
                      StreamHandle stream) {
  if (g.depthwise())
    return VisitStored(dy.dtype(), [&]<class T>(T) {
      DepthwiseBackwardInput(g, Elements<T>(dy), Elements<T>(weight), MutableElements<T>(dx),
                             stream);
    });
  const Tensor gradient = Widened(dy), filter = Widened(weight);
  Rounded(dx, [&](float* out) {
    DenseBackwardInput(g, Elements<float>(gradient), Elements<float>(filter), out, stream);
  });
}

void LowBackwardWeight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, Tensor& dw,
                       StreamHandle stream) {
  const Device device = dw.device();
  if (g.depthwise())
    return Rounded(dw, [&](float* out) {
      VisitStored(x.dtype(), [&]<class T>(T) {
        DepthwiseBackwardWeight(g, Elements<T>(x), Elements<T>(dy), out, device, stream);
      });
    });
  const Tensor in = Widened(x), gradient = Widened(dy);
  Rounded(dw, [&](float* out) {
    DenseBackwardWeight(g, Elements<float>(in), Elements<float>(gradient), out, device, stream);
  });
}

}  // namespace torus::cuda
