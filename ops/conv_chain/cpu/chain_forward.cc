#include <algorithm>
#include <cstring>

#include "ops/conv_chain/cpu/chain_layer.h"
#include "ops/conv_chain/cpu/expand.h"
#include "ops/convolution/cpu/dense.h"
#include "ops/convolution/cpu/depthwise.h"
#include "ops/cpu/gemm.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {

void ChainSource::Copy(int64_t begin, int64_t rows, float* to) const {
  const float* made = Rows(begin, rows, to);
  if (made != to) std::memcpy(to, made, rows * channels_ * sizeof(float));
}

namespace {

void Pointwise(ChainLayer& layer, const ChainSource& source, const float* weight,
               std::vector<ChannelMoments>& moments) {
  const ConvGeometry& g = layer.g;
  float* const z = layer.z.mutable_data<float>();
  const int64_t rows = layer.rows(), block = BlockRows(g.c + g.o), parts = std::ssize(moments);
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    Tensor scratch({block, g.c}, DType::kF32);
    float* const buffer = scratch.mutable_data<float>();
    for (int64_t p = first; p < last; ++p) {
      const int64_t end = rows * (p + 1) / parts;
      for (int64_t r = rows * p / parts; r < end; r += block) {
        const int64_t count = std::min(block, end - r);
        Gemm(Transpose::kNo, Transpose::kYes, count, g.o, g.c, 1.0f, source.Rows(r, count, buffer),
             g.c, weight, g.c, 0.0f, z + r * g.o, g.o);
        moments[p].Add(z + r * g.o, count);
      }
    }
  });
}

void Depthwise(ChainLayer& layer, const ChainSource& source, const float* weight,
               std::vector<ChannelMoments>& moments) {
  const ConvGeometry& g = layer.g;
  float* const z = layer.z.mutable_data<float>();
  const std::vector<float> packed = PackDepthwise(g, weight);
  const auto fill = [&](int64_t n, int64_t row, float* to) {
    source.Copy((n * g.h + row) * g.w, g.w, to);
  };
  const auto into = [&](int64_t n, int64_t row) { return z + (n * g.oh + row) * g.ow * g.o; };
  const int64_t rows = g.n * g.oh, parts = std::ssize(moments);
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      RowMoments sums(moments[p]);
      DepthwiseForwardRows(g, packed.data(), nullptr, rows * p / parts, rows * (p + 1) / parts,
                           fill, into,
                           [&](int64_t, int64_t, const float* row) { sums.Add(row, g.ow); });
      sums.Finish();
    }
  });
}

void Dense(ChainLayer& layer, const float* x, const float* weight,
           std::vector<ChannelMoments>& moments) {
  float* const z = layer.z.mutable_data<float>();
  ConvForward(layer.g, x, weight, nullptr, z);
  const int64_t rows = layer.rows(), parts = std::ssize(moments);
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p)
      moments[p].Add(z + rows * p / parts * layer.g.o, rows * (p + 1) / parts - rows * p / parts);
  });
}

int64_t ForwardParts(const ChainLayer& layer) {
  if (layer.kind == ChainKind::kDepthwise)
    return DepthwiseParts(layer.g.n * layer.g.oh, layer.g.ow);
  return PartsOf(layer.rows());
}

void FinishLayer(ChainLayer& layer, std::vector<ChannelMoments>& moments, const float* weight,
                 const float* bias) {
  if (!moments.empty()) {
    for (size_t p = 1; p < moments.size(); ++p) moments[0].Merge(moments[p]);
    layer.mean = moments[0].mean();
    layer.variance.resize(layer.g.o);
    for (int64_t c = 0; c < layer.g.o; ++c) layer.variance[c] = moments[0].variance(c);
  }
  layer.folded = Fold<float>(layer.mean, layer.variance, layer.eps, weight, bias);
}

// One layer by itself; `below` is null for the first.
void Convolve(ChainLayer& layer, const ChainLayer* below, const float* x, const float* weight,
              std::vector<ChannelMoments>& moments) {
  const ChainSource source = below == nullptr ? ChainSource(x, layer.g.c) : ChainSource(*below);
  if (layer.kind == ChainKind::kPointwise)
    Pointwise(layer, source, weight, moments);
  else if (layer.kind == ChainKind::kDepthwise)
    Depthwise(layer, source, weight, moments);
  else
    Dense(layer, x, weight, moments);
}

void WriteOutput(const ChainLayer& layer, const float* residual, float* y) {
  const int64_t rows = layer.rows(), parts = PartsOf(rows), channels = layer.g.o;
  const float* z = layer.z.data<float>();
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    const int64_t begin = rows * first / parts, end = rows * last / parts, at = begin * channels;
    Normalize(z + at, end - begin, channels, layer.folded.affine(), layer.clamp,
              residual == nullptr ? nullptr : residual + at, y + at);
  });
}

}  // namespace

void ChainForward(std::vector<ChainLayer>& layers, const float* x,
                  const std::vector<const float*>& weights,
                  const std::vector<const float*>& norm_weights,
                  const std::vector<const float*>& norm_biases, const float* residual,
                  int64_t expand_bytes, float* y) {
  const bool expands = layers.size() > 1 && Expands(layers[0].g, layers[1].g, expand_bytes);
  for (size_t l = 0; l < layers.size(); ++l) {
    ChainLayer& layer = layers[l];
    std::vector<ChannelMoments> moments;
    if (l == 0 && expands) {
      ExpandStatistics(layer, x, weights[0]);
    } else {
      layer.z = Tensor({layer.g.n, layer.g.oh, layer.g.ow, layer.g.o}, DType::kF32);
      moments.assign(ForwardParts(layer), ChannelMoments(layer.g.o));
      if (l == 1 && expands)
        ExpandForward(layers[0], layer, x, weights[0], weights[1], moments);
      else
        Convolve(layer, l == 0 ? nullptr : &layers[l - 1], x, weights[l], moments);
    }
    FinishLayer(layer, moments, norm_weights[l], norm_biases[l]);
  }
  WriteOutput(layers.back(), residual, y);
}

}  // namespace torus::cpu
