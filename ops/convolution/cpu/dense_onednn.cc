#include "ops/convolution/cpu/dense_onednn.h"

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>

#include "ops/cpu/onednn_error.h"
#include "runtime/parallel_for.h"
#include "runtime/tensor.h"

namespace torus::cpu {
namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

enum class Pass { kForward, kForwardBias, kBackwardInput, kBackwardWeight };

// A primitive with the layout that it wants of the weights. Making one takes some 5 microseconds
// when it was made before: oneDNN keeps compiled kernels itself, by sizes and team size, and
// forgets the oldest.
struct Convolution {
  dnnl::primitive primitive;
  dnnl::reorder weights_in,
      weights_out;  // between ours and the primitive's; unused where they are the same
  Desc src, dst, weights, user_weights, bias, scratch;
  bool reorders() const { return weights != user_weights; }
};

const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& Stream() {
  thread_local dnnl::stream stream(Engine());
  return stream;
}

dnnl::primitive_attr UserScratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

struct Layouts {
  explicit Layouts(const ConvGeometry& g)
      : src({g.n, g.c, g.h, g.w}, kF32, Tag::nhwc),
        dst({g.n, g.o, g.oh, g.ow}, kF32, Tag::nhwc),
        bias({g.o}, kF32, Tag::a) {
    const auto type = kF32;
    if (g.groups == 1) {
      const dnnl::memory::dims dims{g.o, g.c, g.kh, g.kw};
      user_weights = Desc(dims, type, Tag::ohwi), any_weights = Desc(dims, type, Tag::any);
    } else {
      const dnnl::memory::dims dims{g.groups, g.o / g.groups, g.c / g.groups, g.kh, g.kw};
      // goihw with the strides of (o, kh, kw, i).
      const int64_t i = g.c / g.groups, row = g.kw * i, out = g.kh * row;
      user_weights = Desc(dims, type, dnnl::memory::dims{g.o / g.groups * out, out, 1, row, i});
      any_weights = Desc(dims, type, Tag::any);
    }
  }
  static constexpr auto kF32 = dnnl::memory::data_type::f32;
  Desc src, dst, bias, user_weights, any_weights;
};

using ForwardDesc = dnnl::convolution_forward::primitive_desc;

ForwardDesc MakeForward(const ConvGeometry& g, const Layouts& l, bool bias) {
  const dnnl::memory::dims strides{g.stride_h, g.stride_w},
      dilates{g.dilation_h - 1, g.dilation_w - 1};
  const dnnl::memory::dims before{g.top, g.left}, after{g.bottom, g.right};
  constexpr auto kKind = dnnl::prop_kind::forward_training;
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  const auto desc =
      bias ? dnnl::convolution_forward::desc(kKind, kAlgorithm, l.src, l.any_weights, l.bias, l.dst,
                                             strides, dilates, before, after)
           : dnnl::convolution_forward::desc(kKind, kAlgorithm, l.src, l.any_weights, l.dst,
                                             strides, dilates, before, after);
  return ForwardDesc(desc, UserScratch(), Engine());
}

Convolution Finish(const Layouts& l, dnnl::primitive primitive, const Desc& weights,
                   const Desc& scratch) {
  Convolution out;
  out.primitive = std::move(primitive);
  out.src = l.src, out.dst = l.dst, out.bias = l.bias, out.user_weights = l.user_weights;
  out.weights = weights, out.scratch = scratch;
  if (out.reorders()) {
    out.weights_in = dnnl::reorder({Engine(), l.user_weights, Engine(), weights});
    out.weights_out = dnnl::reorder({Engine(), weights, Engine(), l.user_weights});
  }
  return out;
}

Convolution Make(const ConvGeometry& g, Pass pass) {
  const Layouts l(g);
  const ForwardDesc forward = MakeForward(g, l, pass == Pass::kForwardBias);
  if (pass == Pass::kForward || pass == Pass::kForwardBias)
    return Finish(l, dnnl::convolution_forward(forward), forward.weights_desc(),
                  forward.scratchpad_desc());
  const dnnl::memory::dims strides{g.stride_h, g.stride_w},
      dilates{g.dilation_h - 1, g.dilation_w - 1};
  const dnnl::memory::dims before{g.top, g.left}, after{g.bottom, g.right};
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  if (pass == Pass::kBackwardInput) {
    const dnnl::convolution_backward_data::primitive_desc desc(
        {kAlgorithm, l.src, l.any_weights, l.dst, strides, dilates, before, after}, UserScratch(),
        Engine(), forward);
    return Finish(l, dnnl::convolution_backward_data(desc), desc.weights_desc(),
                  desc.scratchpad_desc());
  }
  const dnnl::convolution_backward_weights::primitive_desc desc(
      {kAlgorithm, l.src, l.any_weights, l.dst, strides, dilates, before, after}, UserScratch(),
      Engine(), forward);
  return Finish(l, dnnl::convolution_backward_weights(desc), desc.diff_weights_desc(),
                desc.scratchpad_desc());
}

dnnl::memory Wrap(const Desc& desc, const void* data) {
  return dnnl::memory(desc, Engine(), const_cast<void*>(data));
}

Tensor Scratch(const Desc& desc) {
  return Tensor({static_cast<int64_t>(desc.get_size())}, DType::kU8);
}

// The user's weights in the layout of the primitive; `holder` owns the copy, where one is needed.
dnnl::memory WeightsIn(const Convolution& conv, const float* weight, Tensor& holder) {
  if (!conv.reorders()) return Wrap(conv.weights, weight);
  holder = Scratch(conv.weights);
  dnnl::memory from = Wrap(conv.user_weights, weight),
               to = Wrap(conv.weights, holder.mutable_raw());
  conv.weights_in.execute(Stream(), from, to);
  return to;
}

using Arguments = std::unordered_map<int, dnnl::memory>;

void Execute(const Convolution& conv, Arguments arguments) {
  Tensor scratch = Scratch(conv.scratch);
  arguments.emplace(DNNL_ARG_SCRATCHPAD, Wrap(conv.scratch, scratch.mutable_raw()));
  conv.primitive.execute(Stream(), arguments);
  Stream().wait();
}

// The pixels that a strided 1 x 1 convolution without padding reads, side by side.
Tensor PixelsRead(const ConvGeometry& g, const float* x) {
  Tensor read({g.n, g.oh, g.ow, g.c}, DType::kF32);
  float* out = read.mutable_data<float>();
  ParallelFor(g.n * g.oh, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* from = x + (row / g.oh * g.h + row % g.oh * g.stride_h) * g.w * g.c;
      for (int64_t i = 0; i < g.ow; ++i)
        std::copy_n(from + i * g.stride_w * g.c, g.c, out + (row * g.ow + i) * g.c);
    }
  });
  return read;
}

// oneDNN gathers those pixels itself, in blocks of 8 channels (AVX2) or 16 (AVX-512), into memory
// that is too small where there are fewer channels: its issue 6035, seen with 2.6 as wrong
// gradients and as threads that wait for ever.
bool OverrunsItsWorkspace(const ConvGeometry& g) {
  constexpr int64_t kLargestBlock = 16;
  return g.kh == 1 && g.kw == 1 && (g.stride_h > 1 || g.stride_w > 1) &&
         g.c / g.groups < kLargestBlock && g.top + g.left + g.bottom + g.right == 0;
}

void Forward(const ConvGeometry& g, const float* x, const float* weight, const float* bias,
             float* y) {
  const Convolution conv = Make(g, bias == nullptr ? Pass::kForward : Pass::kForwardBias);
  Tensor holder;
  Arguments arguments{{DNNL_ARG_SRC, Wrap(conv.src, x)},
                      {DNNL_ARG_WEIGHTS, WeightsIn(conv, weight, holder)},
                      {DNNL_ARG_DST, Wrap(conv.dst, y)}};
  if (bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, Wrap(conv.bias, bias));
  Execute(conv, std::move(arguments));
}

void BackwardInput(const ConvGeometry& g, const float* dy, const float* weight, float* dx) {
  const Convolution conv = Make(g, Pass::kBackwardInput);
  Tensor holder;
  Execute(conv, {{DNNL_ARG_DIFF_DST, Wrap(conv.dst, dy)},
                 {DNNL_ARG_WEIGHTS, WeightsIn(conv, weight, holder)},
                 {DNNL_ARG_DIFF_SRC, Wrap(conv.src, dx)}});
}

void BackwardWeight(const ConvGeometry& g, const float* x, const float* dy, float* dw) {
  if (OverrunsItsWorkspace(g)) {
    const Tensor read = PixelsRead(g, x);
    ConvGeometry dense = g;
    dense.h = g.oh, dense.w = g.ow, dense.stride_h = dense.stride_w = 1;
    return BackwardWeight(dense, read.data<float>(), dy, dw);
  }
  const Convolution conv = Make(g, Pass::kBackwardWeight);
  Tensor holder = conv.reorders() ? Scratch(conv.weights) : Tensor();
  dnnl::memory to = Wrap(conv.weights, conv.reorders() ? holder.mutable_raw() : dw);
  Execute(conv, {{DNNL_ARG_SRC, Wrap(conv.src, x)},
                 {DNNL_ARG_DIFF_DST, Wrap(conv.dst, dy)},
                 {DNNL_ARG_DIFF_WEIGHTS, to}});
  if (!conv.reorders()) return;
  dnnl::memory ours = Wrap(conv.user_weights, dw);
  conv.weights_out.execute(Stream(), to, ours);
}

}  // namespace

void OnednnForward(const ConvGeometry& g, const float* x, const float* weight, const float* bias,
                   float* y) {
  WithOnednnErrors("conv2d", [&] { Forward(g, x, weight, bias, y); });
}

void OnednnBackwardInput(const ConvGeometry& g, const float* dy, const float* weight, float* dx) {
  WithOnednnErrors("conv2d", [&] { BackwardInput(g, dy, weight, dx); });
}

void OnednnBackwardWeight(const ConvGeometry& g, const float* x, const float* dy, float* dw) {
  WithOnednnErrors("conv2d", [&] { BackwardWeight(g, x, dy, dw); });
}

}  // namespace torus::cpu
