#include "ops/convolution/cpu/dense_onednn.h"

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>

#include "ops/cpu/onednn_engine.h"
#include "ops/cpu/onednn_error.h"
#include "runtime/parallel_for.h"
#include "runtime/tensor.h"

namespace torus::cpu {
namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

enum class Pass { kForward, kForwardBias, kBackwardInput, kBackwardWeight };

// A primitive and the layout it wants for the weights. Making one again takes about 5 microseconds:
// oneDNN itself caches compiled kernels by sizes and team size, and evicts the oldest.
struct Convolution {
  dnnl::primitive primitive;
  dnnl::reorder weights_in,
      weights_out;  // between ours and the primitive's; unused where they are the same
  Desc src, dst, weights, user_weights, bias, scratch;
  bool reorders() const { return weights != user_weights; }
};

constexpr Type TypeOf(const float*) { return Type::f32; }
constexpr Type TypeOf(const BFloat16*) { return Type::bf16; }

// The oneDNN descriptor of weights (o, kh, kw, i).
struct Weights {
  Weights(const ConvGeometry& g, Type type) {
    if (g.groups == 1) {
      const dnnl::memory::dims dims{g.o, g.c, g.kh, g.kw};
      user = Desc(dims, type, Tag::ohwi), any = Desc(dims, type, Tag::any);
    } else {
      const dnnl::memory::dims dims{g.groups, g.o / g.groups, g.c / g.groups, g.kh, g.kw};
      // goihw with the strides of (o, kh, kw, i).
      const int64_t i = g.c / g.groups, row = g.kw * i, out = g.kh * row;
      user = Desc(dims, type, dnnl::memory::dims{g.o / g.groups * out, out, 1, row, i});
      any = Desc(dims, type, Tag::any);
    }
  }
  Desc user, any;
};

// Bias and the gradient of the weights are f32 whatever the type.
struct Layouts {
  Layouts(const ConvGeometry& g, Type type)
      : src({g.n, g.c, g.h, g.w}, type, Tag::nhwc),
        dst({g.n, g.o, g.oh, g.ow}, type, Tag::nhwc),
        bias({g.o}, Type::f32, Tag::a),
        weights(g, type),
        gradient(g, Type::f32) {}
  Desc src, dst, bias;
  Weights weights, gradient;
};

using ForwardDesc = dnnl::convolution_forward::primitive_desc;

ForwardDesc MakeForward(const ConvGeometry& g, const Layouts& l, bool bias) {
  const dnnl::memory::dims strides{g.stride_h, g.stride_w},
      dilates{g.dilation_h - 1, g.dilation_w - 1};
  const dnnl::memory::dims before{g.top, g.left}, after{g.bottom, g.right};
  constexpr auto kKind = dnnl::prop_kind::forward_training;
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  const auto desc =
      bias ? dnnl::convolution_forward::desc(kKind, kAlgorithm, l.src, l.weights.any, l.bias, l.dst,
                                             strides, dilates, before, after)
           : dnnl::convolution_forward::desc(kKind, kAlgorithm, l.src, l.weights.any, l.dst,
                                             strides, dilates, before, after);
  return ForwardDesc(desc, UserScratch(), OnednnEngine());
}

Convolution Finish(const Layouts& l, dnnl::primitive primitive, const Desc& user_weights,
                   const Desc& weights, const Desc& scratch) {
  Convolution out;
  out.primitive = std::move(primitive);
  out.src = l.src, out.dst = l.dst, out.bias = l.bias, out.user_weights = user_weights;
  out.weights = weights, out.scratch = scratch;
  if (out.reorders()) {
    out.weights_in = dnnl::reorder({OnednnEngine(), user_weights, OnednnEngine(), weights});
    out.weights_out = dnnl::reorder({OnednnEngine(), weights, OnednnEngine(), user_weights});
  }
  return out;
}

Convolution Make(const ConvGeometry& g, Pass pass, Type type) {
  const Layouts l(g, type);
  const ForwardDesc forward = MakeForward(g, l, pass == Pass::kForwardBias);
  if (pass == Pass::kForward || pass == Pass::kForwardBias)
    return Finish(l, dnnl::convolution_forward(forward), l.weights.user, forward.weights_desc(),
                  forward.scratchpad_desc());
  const dnnl::memory::dims strides{g.stride_h, g.stride_w},
      dilates{g.dilation_h - 1, g.dilation_w - 1};
  const dnnl::memory::dims before{g.top, g.left}, after{g.bottom, g.right};
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  if (pass == Pass::kBackwardInput) {
    const dnnl::convolution_backward_data::primitive_desc desc(
        {kAlgorithm, l.src, l.weights.any, l.dst, strides, dilates, before, after}, UserScratch(),
        OnednnEngine(), forward);
    return Finish(l, dnnl::convolution_backward_data(desc), l.weights.user, desc.weights_desc(),
                  desc.scratchpad_desc());
  }
  const dnnl::convolution_backward_weights::primitive_desc desc(
      {kAlgorithm, l.src, l.gradient.any, l.dst, strides, dilates, before, after}, UserScratch(),
      OnednnEngine(), forward);
  return Finish(l, dnnl::convolution_backward_weights(desc), l.gradient.user,
                desc.diff_weights_desc(), desc.scratchpad_desc());
}

// The weights in the primitive's layout; `holder` owns the copy, if one is needed.
dnnl::memory WeightsIn(const Convolution& conv, const void* weight, Tensor& holder) {
  if (!conv.reorders()) return OnednnMemory(conv.weights, weight);
  holder = ScratchFor(conv.weights);
  dnnl::memory from = OnednnMemory(conv.user_weights, weight),
               to = OnednnMemory(conv.weights, holder.mutable_raw());
  conv.weights_in.execute(OnednnStream(), from, to);
  return to;
}

using Arguments = std::unordered_map<int, dnnl::memory>;

void Execute(const Convolution& conv, Arguments arguments) {
  OnednnExecute(conv.primitive, conv.scratch, std::move(arguments));
}

// The pixels that a strided 1 x 1 convolution without padding reads, copied to be contiguous.
template <class T>
Tensor PixelsRead(const ConvGeometry& g, const T* x) {
  Tensor read({g.n, g.oh, g.ow, g.c}, kDTypeOf<T>);
  T* out = read.mutable_data<T>();
  ParallelFor(g.n * g.oh, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* from = x + (row / g.oh * g.h + row % g.oh * g.stride_h) * g.w * g.c;
      for (int64_t i = 0; i < g.ow; ++i)
        std::copy_n(from + i * g.stride_w * g.c, g.c, out + (row * g.ow + i) * g.c);
    }
  });
  return read;
}

// oneDNN gathers those pixels itself, in blocks of 8 channels (AVX2) or 16 (AVX-512), into a buffer
// that is too small if there are fewer channels: its issue 6035, seen with 2.6 as wrong gradients
// and as deadlocks.
bool OverrunsItsWorkspace(const ConvGeometry& g) {
  constexpr int64_t kLargestBlock = 16;
  return g.kh == 1 && g.kw == 1 && (g.stride_h > 1 || g.stride_w > 1) &&
         g.c / g.groups < kLargestBlock && g.top + g.left + g.bottom + g.right == 0;
}

template <class T>
void Forward(const ConvGeometry& g, const T* x, const T* weight, const float* bias, T* y) {
  const Convolution conv =
      Make(g, bias == nullptr ? Pass::kForward : Pass::kForwardBias, TypeOf(x));
  Tensor holder;
  Arguments arguments{{DNNL_ARG_SRC, OnednnMemory(conv.src, x)},
                      {DNNL_ARG_WEIGHTS, WeightsIn(conv, weight, holder)},
                      {DNNL_ARG_DST, OnednnMemory(conv.dst, y)}};
  if (bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, OnednnMemory(conv.bias, bias));
  Execute(conv, std::move(arguments));
}

template <class T>
void BackwardInput(const ConvGeometry& g, const T* dy, const T* weight, T* dx) {
  const Convolution conv = Make(g, Pass::kBackwardInput, TypeOf(dy));
  Tensor holder;
  Execute(conv, {{DNNL_ARG_DIFF_DST, OnednnMemory(conv.dst, dy)},
                 {DNNL_ARG_WEIGHTS, WeightsIn(conv, weight, holder)},
                 {DNNL_ARG_DIFF_SRC, OnednnMemory(conv.src, dx)}});
}

template <class T>
void BackwardWeight(const ConvGeometry& g, const T* x, const T* dy, float* dw) {
  if (OverrunsItsWorkspace(g)) {
    const Tensor read = PixelsRead(g, x);
    ConvGeometry dense = g;
    dense.h = g.oh, dense.w = g.ow, dense.stride_h = dense.stride_w = 1;
    return BackwardWeight(dense, read.template data<T>(), dy, dw);
  }
  const Convolution conv = Make(g, Pass::kBackwardWeight, TypeOf(x));
  Tensor holder = conv.reorders() ? ScratchFor(conv.weights) : Tensor();
  dnnl::memory to = OnednnMemory(conv.weights, conv.reorders() ? holder.mutable_raw() : dw);
  Execute(conv, {{DNNL_ARG_SRC, OnednnMemory(conv.src, x)},
                 {DNNL_ARG_DIFF_DST, OnednnMemory(conv.dst, dy)},
                 {DNNL_ARG_DIFF_WEIGHTS, to}});
  if (!conv.reorders()) return;
  dnnl::memory ours = OnednnMemory(conv.user_weights, dw);
  conv.weights_out.execute(OnednnStream(), to, ours);
}

}  // namespace

template <class T>
void OnednnForward(const ConvGeometry& g, const T* x, const T* weight, const float* bias, T* y) {
  WithOnednnErrors("conv2d", [&] { Forward(g, x, weight, bias, y); });
}

template <class T>
void OnednnBackwardInput(const ConvGeometry& g, const T* dy, const T* weight, T* dx) {
  WithOnednnErrors("conv2d", [&] { BackwardInput(g, dy, weight, dx); });
}

template <class T>
void OnednnBackwardWeight(const ConvGeometry& g, const T* x, const T* dy, float* dw) {
  WithOnednnErrors("conv2d", [&] { BackwardWeight(g, x, dy, dw); });
}

#define TORUS_INSTANTIATE(T)                                                              \
  template void OnednnForward(const ConvGeometry&, const T*, const T*, const float*, T*); \
  template void OnednnBackwardInput(const ConvGeometry&, const T*, const T*, T*);         \
  template void OnednnBackwardWeight(const ConvGeometry&, const T*, const T*, float*);
TORUS_INSTANTIATE(float)
TORUS_INSTANTIATE(BFloat16)
#undef TORUS_INSTANTIATE

}  // namespace torus::cpu
