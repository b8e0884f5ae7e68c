#include "ops/batch_norm/channel_functors.h"
#include "ops/batch_norm/cuda/batch_norm.h"
#include "runtime/cuda/divide.h"
//
#include "ops/batch_norm/cuda/norm_elements.h"
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

template <class T>
struct FoldChannel {
  double eps;
  const double *of_mean, *of_var;
  const T *weight, *of_bias;  // may be null: ones and zeros
  T *mean, *scale, *bias;
  double* inv_std;
  __device__ void operator()(int64_t c) const {
    inv_std[c] = ops::InverseStd(of_var[c], eps);
    mean[c] = static_cast<T>(of_mean[c]);
    scale[c] =
        static_cast<T>((weight == nullptr ? 1.0 : static_cast<double>(weight[c])) * inv_std[c]);
    bias[c] = of_bias == nullptr ? T(0) : of_bias[c];
  }
};

template <class T>
struct NormalizeElement {
  int64_t channels;
  BeforeActivation<T> before;
  Bounds<SumOf<T>> bounds;
  T* y;
  __device__ void operator()(int64_t i) const {
    y[i] = RoundedTo<T>(bounds.Clamped(before(i, Divide(i, channels).rest)));
  }
};

}  // namespace

void FoldChannels(const Tensor& mean, const Tensor& var, double eps, const Tensor& weight,
                  const Tensor& bias, ops::ChannelAffine& affine, StreamHandle stream) {
  VisitCompute(kNormOp, affine.mean.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(
        kNormOp, mean.numel(), stream,
        FoldChannel<T>{eps, Elements<double>(mean), Elements<double>(var),
                       ElementsOrNull<T>(weight), ElementsOrNull<T>(bias),
                       MutableElements<T>(affine.mean), MutableElements<T>(affine.scale),
                       MutableElements<T>(affine.bias), MutableElements<double>(affine.inv_std)});
  });
}

void NormalizeChannels(const Tensor& x, const ops::ChannelAffine& affine,
                       ops::Activation activation, const Tensor& residual, Tensor& y,
                       StreamHandle stream) {
  VisitFloats(kNormOp, x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(kNormOp, x.numel(), stream,
            NormalizeElement<T>{
                x.dim(-1),
                {AffineOf<SumOf<T>>(affine), Elements<T>(x), ElementsOrNull<T>(residual)},
                Bounds<SumOf<T>>(activation),
                MutableElements<T>(y)});
  });
}

}  // namespace torus::cuda
