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

// f(T()) for the storage type T of f32, bf16 or f16.
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

template <class T>
struct LoadWide {
  const T* values;
  __device__ float operator()(int64_t at, int64_t) const {
    return ElementCast<float, T>()(values[at]);
  }
};

Tensor Wide(const Tensor& t) { return t.To(DType::kF32); }

// compute(float* of the tensor's size), rounded to `out` once; not copied where that is f32.
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
    SumColumns(kOp, 1, g.output_rows(), g.o, LoadWide<T>{Elements<T>(dy)}, 1,
               MutableElements<float>(sum), sum.device(), stream);
  });
}

void LowForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                Tensor& y, StreamHandle stream) {
  const Tensor in = Wide(x), filter = Wide(weight);
  const float *pixels = Elements<float>(in), *w = Elements<float>(filter);
  const float* const add = ElementsOrNull<float>(bias);
  Rounded(y, [&](float* out) {
    if (g.depthwise()) return DepthwiseForward(g, pixels, w, add, out, stream);
    DenseForward(g, pixels, w, add, out, stream);
  });
}

void LowBackwardInput(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, Tensor& dx,
                      StreamHandle stream) {
  const Tensor gradient = Wide(dy), filter = Wide(weight);
  const float *sent = Elements<float>(gradient), *w = Elements<float>(filter);
  Rounded(dx, [&](float* out) {
    if (g.depthwise()) return DepthwiseBackwardInput(g, sent, w, out, stream);
    DenseBackwardInput(g, sent, w, out, stream);
  });
}

void LowBackwardWeight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, Tensor& dw,
                       StreamHandle stream) {
  const Tensor in = Wide(x), gradient = Wide(dy);
  const float *pixels = Elements<float>(in), *sent = Elements<float>(gradient);
  Rounded(dw, [&](float* out) {
    if (g.depthwise()) return DepthwiseBackwardWeight(g, pixels, sent, out, dw.device(), stream);
    DenseBackwardWeight(g, pixels, sent, out, dw.device(), stream);
  });
}

}  // namespace torus::cuda
