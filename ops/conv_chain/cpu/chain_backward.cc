#include <algorithm>
#include <cstring>

#include "ops/conv_chain/cpu/chain_layer.h"
#include "ops/conv_chain/cpu/expand.h"
#include "ops/convolution/cpu/dense.h"
#include "ops/convolution/cpu/depthwise.h"
#include "ops/cpu/gemm.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

// Takes the gradient with respect to a layer's activation, block by block while it is in cache:
// masks it in place and sums what the layer's batch norm needs. Call Finish after the last rows: it
// allocates, which a destructor must not.
class GradientSink {
 public:
  GradientSink(const ChainLayer* layer, GradientSums* sums, float* base)
      : layer_(layer), sums_(sums), base_(base) {}
  void Add(float* row, int64_t pixels) {
    if (layer_ == nullptr) return;
    if (pending_ == 0) first_ = row;
    pending_ += pixels;
    if (pending_ >= 128) Finish();
  }
  void Finish() {
    if (pending_ == 0) return;
    sums_->Add<float>(first_, layer_->z.data<float>() + (first_ - base_), nullptr, pending_,
                      layer_->folded.affine(), layer_->clamp, first_);
    pending_ = 0;
  }

 private:
  const ChainLayer* layer_;
  GradientSums* sums_;
  float* base_;
  float* first_ = nullptr;
  int64_t pending_ = 0;
};

// One layer's backward: reads the gradient with respect to z from `gradient` and the activations
// from `source`; writes the weight's gradient to `dw` and the input's to `dx` (either may be null),
// the latter through `below`'s mask and sums.
struct Step {
  const ConvGeometry& g;
  const GradientSource& gradient;
  const ChainSource& source;
  const float* weight;
  float* dw;
  float* dx;
  const float* add;  // added to dx; may be null
  const ChainLayer* below;
  std::vector<GradientSums>& sums;  // one per part, for `below`
};

void SumParts(const float* parts, int64_t count, int64_t size, float* sum) {
  ParallelFor(size, 16384, [&](int64_t begin, int64_t end) {
    std::memcpy(sum + begin, parts + begin, (end - begin) * sizeof(float));
    for (int64_t p = 1; p < count; ++p)
      for (int64_t i = begin; i < end; ++i) sum[i] += parts[p * size + i];
  });
}

void PointwisePart(const Step& s, int64_t begin, int64_t end, GradientSums* sums, float* dw) {
  const ConvGeometry& g = s.g;
  const int64_t block = BlockRows(g.c + g.o);
  Tensor scratch({block * (g.c + g.o)}, DType::kF32);
  float *const dz = scratch.mutable_data<float>(), *const buffer = dz + block * g.o;
  GradientSink sink(s.below, sums, s.dx);
  for (int64_t r = begin; r < end; r += block) {
    const int64_t rows = std::min(block, end - r);
    s.gradient.Rows(r, rows, dz);
    if (dw != nullptr)
      Gemm(Transpose::kYes, Transpose::kNo, g.o, g.c, rows, 1.0f, dz, g.o,
           s.source.Rows(r, rows, buffer), g.c, r == begin ? 0.0f : 1.0f, dw, g.c);
    if (s.dx == nullptr) continue;
    float* const dx = s.dx + r * g.c;
    if (s.add != nullptr) std::memcpy(dx, s.add + r * g.c, rows * g.c * sizeof(float));
    Gemm(Transpose::kNo, Transpose::kNo, rows, g.c, g.o, 1.0f, dz, g.o, s.weight, g.c,
         s.add != nullptr ? 1.0f : 0.0f, dx, g.c);
    sink.Add(dx, rows);
  }
  sink.Finish();
}

void Pointwise(const Step& s) {
  const int64_t rows = s.g.output_rows(), parts = std::ssize(s.sums), size = s.g.o * s.g.c;
  Tensor partial = s.dw == nullptr ? Tensor() : Tensor({parts, size}, DType::kF32);
  float* const dw = s.dw == nullptr ? nullptr : partial.mutable_data<float>();
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p)
      PointwisePart(s, rows * p / parts, rows * (p + 1) / parts, &s.sums[p],
                    dw == nullptr ? nullptr : dw + p * size);
  });
  if (dw != nullptr) SumParts(dw, parts, size, s.dw);
}

void AddRows(const float* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

void Depthwise(const Step& s) {
  const ConvGeometry& g = s.g;
  const std::vector<float> packed = PackDepthwise(g, s.weight);
  const auto fill_dy = [&](int64_t n, int64_t row, float* to) {
    s.gradient.Rows((n * g.oh + row) * g.ow, g.ow, to);
  };
  const auto fill_x = [&](int64_t n, int64_t row, float* to) {
    s.source.Copy((n * g.h + row) * g.w, g.w, to);
  };
  const auto into = [&](int64_t n, int64_t row) { return s.dx + (n * g.h + row) * g.w * g.c; };
  const int64_t rows = g.n * g.h, parts = std::ssize(s.sums);
  std::vector<DepthwiseWeightSums> weights(s.dw == nullptr ? 0 : parts, DepthwiseWeightSums(g));
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      GradientSink sink(s.below, &s.sums[p], s.dx);
      const auto out = [&](int64_t n, int64_t row, float* dx) {
        if (s.add != nullptr) AddRows(s.add + (n * g.h + row) * g.w * g.c, g.w * g.c, dx);
        sink.Add(dx, g.w);
      };
      DepthwiseBackwardRows(g, s.dx == nullptr ? nullptr : packed.data(),
                            s.dw == nullptr ? nullptr : &weights[p], rows * p / parts,
                            rows * (p + 1) / parts, fill_dy, fill_x, into, out);
      sink.Finish();
    }
  });
  if (s.dw == nullptr) return;
  for (int64_t p = 1; p < parts; ++p) weights[0].Merge(weights[p]);
  UnpackDepthwise(g, weights[0].total(), s.dw);
}

// Only for the first layer: oneDNN needs the whole gradient with respect to z.
void Dense(const Step& s, const float* x) {
  const ConvGeometry& g = s.g;
  Tensor dz({g.n, g.oh, g.ow, g.o}, DType::kF32);
  float* const to = dz.mutable_data<float>();
  ParallelFor(g.output_rows(), 64, [&](int64_t begin, int64_t end) {
    s.gradient.Rows(begin, end - begin, to + begin * g.o);
  });
  if (s.dw != nullptr) ConvBackwardWeight(g, x, to, s.dw);
  if (s.dx == nullptr) return;
  ConvBackwardInput(g, to, s.weight, s.dx);
  if (s.add != nullptr) AddRows(s.add, g.input_rows() * g.c, s.dx);
}

// The last layer's sums take a pass of their own: dy is not in cache yet.
GradientSums LastSums(const ChainLayer& layer, const float* dy) {
  const int64_t rows = layer.rows(), parts = PartsOf(rows), channels = layer.g.o;
  std::vector<GradientSums> sums(parts, GradientSums(channels));
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      const int64_t begin = rows * p / parts, end = rows * (p + 1) / parts, at = begin * channels;
      sums[p].Add<float>(dy + at, layer.z.data<float>() + at, nullptr, end - begin,
                         layer.folded.affine(), layer.clamp, nullptr);
    }
  });
  for (int64_t p = 1; p < parts; ++p) sums[0].Merge(sums[p]);
  return std::move(sums[0]);
}

int64_t BackwardParts(const ChainLayer& layer) {
  if (layer.kind == ChainKind::kDepthwise) return DepthwiseParts(layer.g.n * layer.g.h, layer.g.w);
  return PartsOf(layer.rows());
}

void Run(const ChainLayer& layer, const Step& step, const float* x) {
  if (layer.kind == ChainKind::kPointwise)
    Pointwise(step);
  else if (layer.kind == ChainKind::kDepthwise)
    Depthwise(step);
  else
    Dense(step, x);
}

// Whether anything before layer l needs a gradient.
bool WantedBelow(const ChainGradients& out, size_t l) {
  if (out.x != nullptr) return true;
  for (size_t i = 0; i < l; ++i)
    if (out.weights[i] != nullptr || out.norm_weights[i] != nullptr ||
        out.norm_biases[i] != nullptr)
      return true;
  return false;
}

}  // namespace

void ChainBackward(const std::vector<ChainLayer>& layers, const float* x,
                   const std::vector<const float*>& weights, const float* dy, bool residual,
                   const ChainGradients& out) {
  GradientSums sums = LastSums(layers.back(), dy);
  Tensor held;  // the masked gradient of layer l's activation; dy for layers.back()
  for (size_t l = layers.size(); l-- > 0;) {
    const ChainLayer& layer = layers[l];
    const bool is_last = l + 1 == layers.size();
    const GradientSource gradient{
        layer, is_last ? dy : held.data<float>(), is_last ? layer.clamp : Clamp{},
        FoldBackward(layer.folded.affine(), layer.folded.inv_std.data(), sums, layer.rows(),
                     out.norm_weights[l], out.norm_biases[l])};
    const bool below = WantedBelow(out, l);
    if (!below && out.weights[l] == nullptr) return;
    if (l == 1 && Widens(layers[0].g, layer.g))
      return ExpandBackward({layers[0], layer, gradient, x, weights[0], weights[1],
                             residual ? dy : nullptr, out.x, out.weights[0], out.weights[1],
                             out.norm_weights[0], out.norm_biases[0]});
    const ChainSource source = l == 0 ? ChainSource(x, layer.g.c) : ChainSource(layers[l - 1]);
    Tensor next = l > 0 && below ? Tensor(layers[l - 1].z.shape(), DType::kF32) : Tensor();
    std::vector<GradientSums> parts(BackwardParts(layer), GradientSums(layer.g.c));
    const Step step{layer.g,
                    gradient,
                    source,
                    weights[l],
                    out.weights[l],
                    next.defined() ? next.mutable_data<float>()
                    : l == 0       ? out.x
                                   : nullptr,
                    residual && l == 0 ? dy : nullptr,
                    l == 0 ? nullptr : &layers[l - 1],
                    parts};
    Run(layer, step, x);
    if (!below) return;
    for (size_t p = 1; p < parts.size(); ++p) parts[0].Merge(parts[p]);
    sums = std::move(parts[0]);
    held = std::move(next);
  }
}

}  // namespace torus::cpu
