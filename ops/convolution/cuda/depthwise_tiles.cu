#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "ops/convolution/cuda/depthwise_tiles.h"
#include "ops/convolution/cuda/tile_images.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/block.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/part_sums.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "conv2d";

template <int K, int S>
constexpr int kTileRows = (K == 3 ? 8 : 4) / S;  // of outputs

uint32_t TilesOf(int64_t length, int tile) {
  return static_cast<uint32_t>((length + tile - 1) / tile);
}

template <class T>
ImagesOfTiles<T> InputImages(const ConvGeometry& g, T* elements) {
  return {elements, static_cast<int>(g.h), static_cast<int>(g.w), static_cast<int>(g.c)};
}

template <class T>
ImagesOfTiles<T> OutputImages(const ConvGeometry& g, T* elements) {
  return {elements, static_cast<int>(g.oh), static_cast<int>(g.ow), static_cast<int>(g.c)};
}

// kTileRows outputs of one column.
template <class T, int K, int S>
struct ForwardTile {
  static constexpr int kRows = kTileRows<K, S>;
  TileGrid grid;
  int top, left;
  ImagesOfTiles<const T> x;
  const T* weight;
  const float* bias;  // may be null
  ImagesOfTiles<T> y;

  __device__ void operator()(int64_t tile) const {
    const TileGrid::Place place = grid.At(static_cast<uint32_t>(tile));
    const ImageOfTile<const T> in = x.At(place.image, place.channel);
    const auto weights = TileWeights<K>::Of(weight, place.channel);
    ChannelFloats sums[kRows];
    TORUS_UNROLL
    for (int r = 0; r < kRows; ++r) sums[r] = Bias(place.channel);
    const int first_row = place.row * kRows * S - top, first_column = place.column * S - left;
    TORUS_UNROLL
    for (int r = 0; r < (kRows - 1) * S + K; ++r) {
      TORUS_UNROLL
      for (int b = 0; b < K; ++b) {
        const ChannelFloats value = in.Read(first_row + r, first_column + b);
        TORUS_UNROLL
        for (int a = r % S; a < K; a += S)
          if (r - a >= 0 && r - a < kRows * S)
            AddProduct(value, weights.at[a * K + b], sums[(r - a) / S]);
      }
    }
    const ImageOfTile<T> out = y.At(place.image, place.channel);
    TORUS_UNROLL
    for (int r = 0; r < kRows; ++r) out.Write(place.row * kRows + r, place.column, sums[r]);
  }

 private:
  __device__ ChannelFloats Bias(int channel) const {
    ChannelFloats values{};
    if (bias != nullptr)
      for (int k = 0; k < kTileChannels; ++k) values.at[k] = bias[channel + k];
    return values;
  }
};

// The gradients of those S x S inputs that begin at each of kTileRows rows of a column of outputs,
// where inputs are counted with the padding: output (i, j) reads those from (S i, S j) on.
template <class T, int K, int S>
struct InputGradientTile {
  static constexpr int kRows = kTileRows<K, S>, kBefore = (K - 1) / S;  // outputs that reach in
  TileGrid grid;
  int top, left;
  ImagesOfTiles<const T> dy;
  const T* weight;
  ImagesOfTiles<T> dx;

  __device__ void operator()(int64_t tile) const {
    const TileGrid::Place place = grid.At(static_cast<uint32_t>(tile));
    const ImageOfTile<const T> in = dy.At(place.image, place.channel);
    const auto weights = TileWeights<K>::Of(weight, place.channel);
    ChannelFloats sums[kRows * S][S] = {};
    const int row = top / S + place.row * kRows, column = left / S + place.column;
    TORUS_UNROLL
    for (int r = 0; r < kRows + kBefore; ++r) {
      TORUS_UNROLL
      for (int s = 0; s <= kBefore; ++s)
        AddAll(in.Read(row - kBefore + r, column - kBefore + s), (r - kBefore) * S,
               (s - kBefore) * S, weights, sums);
    }
    const ImageOfTile<T> out = dx.At(place.image, place.channel);
    TORUS_UNROLL
    for (int i = 0; i < kRows * S; ++i) {
      TORUS_UNROLL
      for (int j = 0; j < S; ++j) out.Write(row * S - top + i, column * S - left + j, sums[i][j]);
    }
  }

 private:
  // Adds what an output's gradient gives those inputs of the tile that it reads, from (i, j) on.
  __device__ static void AddAll(const ChannelFloats& gradient, int i, int j,
                                const TileWeights<K>& weights,
                                ChannelFloats (&sums)[kRows * S][S]) {
    TORUS_UNROLL
    for (int a = 0; a < K; ++a) {
      TORUS_UNROLL
      for (int b = 0; b < K; ++b)
        if (i + a >= 0 && i + a < kRows * S && j + b >= 0 && j + b < S)
          AddProduct(gradient, weights.at[a * K + b], sums[i + a][j + b]);
    }
  }
};

// A block of the weights' gradient takes eight packs of channels and every parts-th of 32
// neighbouring tiles, each of kTileRows outputs of one column.
template <class T, int K, int S>
struct WeightGradientPart {
  static constexpr int kRows = kTileRows<K, S>, kPacks = 8;
  TileGrid grid;  // of single packs
  int64_t tiles;  // of all images, for one pack
  int parts, packs;
  int top, left;
  ImagesOfTiles<const T> x, dy;
  float* out;  // (parts, K K, channels)

  template <int kThreads>
  __device__ void Run(int64_t task) const {
    const int chunk = static_cast<int>(task / parts), part = static_cast<int>(task % parts);
    const int pack = chunk * kPacks + threadIdx.x % kPacks;
    constexpr int kLanes = kThreads / kPacks;
    ChannelFloats sums[K * K] = {};
    if (pack < packs)
      for (int64_t tile = int64_t{part} * kLanes + threadIdx.x / kPacks; tile < tiles;
           tile += int64_t{parts} * kLanes)
        AddTile(grid.At(static_cast<uint32_t>(tile)), pack * kTileChannels, sums);
    TORUS_UNROLL
    for (int tap = 0; tap < K * K; ++tap) {
      const ChannelFloats sum = CombineColumns<kThreads, kPacks>(sums[tap], Plus());
      float* const to = out + (int64_t{part} * K * K + tap) * dy.channels + pack * kTileChannels;
      if (threadIdx.x < kPacks && pack < packs) WriteRounded(sum, to);
    }
  }

 private:
  __device__ void AddTile(const TileGrid::Place& place, int channel,
                          ChannelFloats (&sums)[K * K]) const {
    const ImageOfTile<const T> in = x.At(place.image, channel),
                               gradient = dy.At(place.image, channel);
    ChannelFloats of_rows[kRows];
    TORUS_UNROLL
    for (int r = 0; r < kRows; ++r) of_rows[r] = gradient.Read(place.row * kRows + r, place.column);
    const int first_row = place.row * kRows * S - top, first_column = place.column * S - left;
    TORUS_UNROLL
    for (int r = 0; r < (kRows - 1) * S + K; ++r) {
      TORUS_UNROLL
      for (int b = 0; b < K; ++b) {
        const ChannelFloats value = in.Read(first_row + r, first_column + b);
        TORUS_UNROLL
        for (int a = r % S; a < K; a += S)
          if (r - a >= 0 && r - a < kRows * S)
            AddProduct(value, of_rows[(r - a) / S], sums[a * K + b]);
      }
    }
  }
};

// From (taps, channels) to (channels, taps).
template <class T>
struct StoreTap {
  int64_t taps, channels;
  T* out;
  __device__ void operator()(int64_t column, T sum) const {
    out[column % channels * taps + column / channels] = sum;
  }
};

// Calls f with the kernel's size and the stride as constants.
template <class F>
void VisitSizes(const ConvGeometry& g, const F& f) {
  using std::integral_constant;
  const auto with_stride = [&](auto size) {
    g.stride_h == 1 ? f(size, integral_constant<int, 1>()) : f(size, integral_constant<int, 2>());
  };
  g.kh == 3 ? with_stride(integral_constant<int, 3>()) : with_stride(integral_constant<int, 5>());
}

// As many blocks as run at once on a large GPU, and no fewer than four tiles a thread.
int WeightParts(int64_t tiles, int chunks) {
  constexpr int64_t kBlocks = 512, kTilesOfBlock = 4 * 32;
  return static_cast<int>(
      std::clamp<int64_t>(tiles / kTilesOfBlock, 1, std::max<int64_t>(1, kBlocks / chunks)));
}

}  // namespace

template <class T>
bool DepthwiseHasTiles(const ConvGeometry& g, const T* x, const T* weight, const T* y) {
  const auto fits = [&](int64_t height, int64_t width) {
    return (height + g.kh) * (width + g.kw) * g.c <= std::numeric_limits<int>::max();
  };
  const auto aligned = [](const T* elements) {
    return reinterpret_cast<uintptr_t>(elements) % (kTileChannels * sizeof(T)) == 0;
  };
  return g.depthwise() && g.kh == g.kw && (g.kh == 3 || g.kh == 5) && g.stride_h == g.stride_w &&
         g.stride_h <= 2 && g.dilation_h == 1 && g.dilation_w == 1 && g.c % kTileChannels == 0 &&
         g.c > 0 && g.n * (g.h + g.top) * (g.w + g.left) * g.c / kTileChannels < 1LL << 31 &&
         g.output_rows() * g.c / kTileChannels < 1LL << 31 && fits(g.h + g.top, g.w + g.left) &&
         fits(g.oh, g.ow) && aligned(x) && aligned(weight) && aligned(y);
}

template <class T>
void TiledDepthwiseForward(const ConvGeometry& g, const T* x, const T* weight, const SumOf<T>* bias,
                           T* y, StreamHandle stream) {
  VisitSizes(g, [&]<int K, int S>(std::integral_constant<int, K>, std::integral_constant<int, S>) {
    const TileGrid grid{TilesOf(g.oh, kTileRows<K, S>), static_cast<uint32_t>(g.ow),
                        static_cast<uint32_t>(g.c / kTileChannels)};
    ForEach(kOp, grid.count(g.n), stream,
            ForwardTile<T, K, S>{grid, static_cast<int>(g.top), static_cast<int>(g.left),
                                 InputImages(g, x), weight, bias, OutputImages(g, y)});
  });
}

template <class T>
void TiledDepthwiseBackwardInput(const ConvGeometry& g, const T* dy, const T* weight, T* dx,
                                 StreamHandle stream) {
  VisitSizes(g, [&]<int K, int S>(std::integral_constant<int, K>, std::integral_constant<int, S>) {
    const TileGrid grid{TilesOf(g.top % S + g.h, kTileRows<K, S> * S), TilesOf(g.left % S + g.w, S),
                        static_cast<uint32_t>(g.c / kTileChannels)};
    ForEach(kOp, grid.count(g.n), stream,
            InputGradientTile<T, K, S>{grid, static_cast<int>(g.top), static_cast<int>(g.left),
                                       OutputImages(g, dy), weight, InputImages(g, dx)});
  });
}

template <class T>
void TiledDepthwiseBackwardWeight(const ConvGeometry& g, const T* x, const T* dy, SumOf<T>* dw,
                                  Device device, StreamHandle stream) {
  constexpr int kThreads = 256;
  VisitSizes(g, [&]<int K, int S>(std::integral_constant<int, K>, std::integral_constant<int, S>) {
    using Part = WeightGradientPart<T, K, S>;
    const TileGrid grid{TilesOf(g.oh, kTileRows<K, S>), static_cast<uint32_t>(g.ow), 1};
    const int packs = static_cast<int>(g.c / kTileChannels),
              chunks = static_cast<int>(TilesOf(packs, Part::kPacks)),
              parts = WeightParts(grid.count(g.n), chunks);
    Tensor partial({parts, K * K, g.c}, DType::kF32, device);
    float* const of_parts = MutableElements<float>(partial);
    ForEachBlock<kThreads>(
        kOp, int64_t{chunks} * parts, stream,
        Part{grid, grid.count(g.n), parts, packs, static_cast<int>(g.top), static_cast<int>(g.left),
             InputImages(g, x), OutputImages(g, dy), of_parts});
    SumOfParts(kOp, parts, K * K * g.c, of_parts, StoreTap<SumOf<T>>{K * K, g.c, dw}, stream);
  });
}

#define TORUS_INSTANTIATE(T)                                                                     \
  template bool DepthwiseHasTiles(const ConvGeometry&, const T*, const T*, const T*);            \
  template void TiledDepthwiseForward(const ConvGeometry&, const T*, const T*, const SumOf<T>*,  \
                                      T*, StreamHandle);                                         \
  template void TiledDepthwiseBackwardInput(const ConvGeometry&, const T*, const T*, T*,         \
                                            StreamHandle);                                       \
  template void TiledDepthwiseBackwardWeight(const ConvGeometry&, const T*, const T*, SumOf<T>*, \
                                             Device, StreamHandle);
TORUS_INSTANTIATE(float)
TORUS_INSTANTIATE(BFloat16)
TORUS_INSTANTIATE(Float16)
#undef TORUS_INSTANTIATE

}  // namespace torus::cuda
