#include "ops/convolution/cpu/winograd.h"

#include <algorithm>
#include <vector>

#include "ops/convolution/cpu/winograd_vector.h"
#include "ops/cpu/gemm.h"
#include "runtime/parallel_for.h"
#include "runtime/tensor.h"

namespace torus::cpu {
namespace {

constexpr int64_t kLeastChannels = 32, kLeastTiles = 8;
constexpr int64_t kBlockBytes = int64_t{16} << 20;

// The 4 x 4 tiles of the outputs.
struct TileGrid {
  explicit TileGrid(const ConvGeometry& g)
      : down((g.oh + kWinogradTile - 1) / kWinogradTile),
        across((g.ow + kWinogradTile - 1) / kWinogradTile),
        count(g.n * down * across) {}
  int64_t down, across, count;
};

// 36 matrices of `rows` rows. Rows and matrices are padded so that neighbouring ones do not compete
// for the same few cache sets.
class TransformedTiles {
 public:
  TransformedTiles(int64_t rows, int64_t channels)
      : row_(channels + 16),
        stride_((rows * row_ + 1023) / 1024 * 1024 + 16),
        memory_({kWinogradPoints * stride_}, DType::kF32),
        data_(memory_.mutable_data<float>()) {}
  int64_t row() const { return row_; }        // floats from row to row
  int64_t stride() const { return stride_; }  // from point to point
  float* at(int64_t r) { return data_ + r * row_; }
  float* point(int64_t p) { return data_ + p * stride_; }

 private:
  int64_t row_, stride_;
  Tensor memory_;
  float* data_;
};

// A batch of images, read or written tile by tile.
template <class T>
struct Images {
  T* data;
  int64_t h, w, c;
  // The side x side pixels from (top, left) of image n; those beyond its edges are all `outside`.
  void Patch(int64_t n, int64_t top, int64_t left, int side, T* outside, T** pixels) const {
    for (int64_t y = top; y < top + side; ++y)
      for (int64_t x = left; x < left + side; ++x)
        *pixels++ = y < 0 || y >= h || x < 0 || x >= w ? outside : data + ((n * h + y) * w + x) * c;
  }
};

// Calls body(tile - first, pixels) for tiles [first, first + count), on the team. Pixels beyond the
// edges are one pixel per thread: zeros when read, discarded when written.
template <class T, class Body>
void OverPatches(const TileGrid& grid, int64_t first, int64_t count, const Images<T>& images,
                 int64_t top, int64_t left, int side, const Body& body) {
  ParallelFor(count, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> outside(images.c);
    T* pixels[kWinogradPoints];
    for (int64_t t = begin; t < end; ++t) {
      const int64_t tile = first + t, i = tile / grid.across % grid.down, j = tile % grid.across;
      images.Patch(tile / grid.across / grid.down, i * kWinogradTile - top,
                   j * kWinogradTile - left, side, outside.data(), pixels);
      body(t, pixels);
    }
  });
}

void TransformInput(const ConvGeometry& g, int64_t first, int64_t count, const float* x,
                    TransformedTiles& out) {
  OverPatches(TileGrid(g), first, count, Images<const float>{x, g.h, g.w, g.c}, g.top, g.left,
              kWinogradPatch, [&](int64_t t, const float* const* pixels) {
                WinogradInput(pixels, g.c, out.stride(), out.at(t));
              });
}

void TransformOutputGradient(const ConvGeometry& g, int64_t first, int64_t count, const float* dy,
                             TransformedTiles& out) {
  OverPatches(TileGrid(g), first, count, Images<const float>{dy, g.oh, g.ow, g.o}, 0, 0,
              kWinogradTile, [&](int64_t t, const float* const* pixels) {
                WinogradOutputGradient(pixels, g.o, out.stride(), out.at(t));
              });
}

void TransformOutput(const ConvGeometry& g, int64_t first, int64_t count, TransformedTiles& in,
                     const float* bias, float low, float* y) {
  OverPatches(TileGrid(g), first, count, Images<float>{y, g.oh, g.ow, g.o}, 0, 0, kWinogradTile,
              [&](int64_t t, float* const* pixels) {
                WinogradOutput(in.at(t), g.o, in.stride(), bias, low, pixels);
              });
}

TransformedTiles TransformWeight(const float* weight, int64_t o, int64_t c, bool flip) {
  TransformedTiles out(o, c);
  ParallelFor(o, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      WinogradWeight(weight + i * 9 * c, flip, c, out.stride(), out.at(i));
  });
  return out;
}

// Tiles per block, so that their transforms fit into the last-level cache.
int64_t BlockTiles(const ConvGeometry& g) {
  const int64_t bytes = kWinogradPoints * (g.c + g.o) * static_cast<int64_t>(sizeof(float));
  return std::min(TileGrid(g).count, std::max<int64_t>(128, kBlockBytes / bytes));
}

// `weight` is (c, o) at each point, or (o, c) with `transpose`.
void Convolve(const ConvGeometry& g, const float* x, TransformedTiles& weight, Transpose transpose,
              const float* bias, float low, float* y) {
  const int64_t tiles = TileGrid(g).count, block = BlockTiles(g);
  TransformedTiles in(block, g.c), out(block, g.o);
  for (int64_t first = 0; first < tiles; first += block) {
    const int64_t count = std::min(block, tiles - first);
    TransformInput(g, first, count, x, in);
    ParallelFor(kWinogradPoints, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        Gemm(Transpose::kNo, transpose, count, g.o, g.c, 1.0f, in.point(p), in.row(),
             weight.point(p), weight.row(), 0.0f, out.point(p), out.row());
    });
    TransformOutput(g, first, count, out, bias, low, y);
  }
}

}  // namespace

bool WinogradFits(const ConvGeometry& g) {
  const TileGrid grid(g);
  const bool shape = g.kh == 3 && g.kw == 3 && g.stride_h == 1 && g.stride_w == 1 &&
                     g.dilation_h == 1 && g.dilation_w == 1 && g.groups == 1;
  return shape && std::min(g.c, g.o) >= kLeastChannels && grid.count >= kLeastTiles &&
         2 * g.oh * g.ow >= grid.down * grid.across * kWinogradTile * kWinogradTile;
}

void WinogradForward(const ConvGeometry& g, const float* x, const float* weight, const float* bias,
                     float* y, float low) {
  TransformedTiles weights = TransformWeight(weight, g.o, g.c, /*flip=*/false);
  Convolve(g, x, weights, Transpose::kYes, bias, low, y);
}

void WinogradBackwardInput(const ConvGeometry& g, const float* dy, const float* weight, float* dx) {
  ConvGeometry back = g;
  back.h = g.oh, back.w = g.ow, back.c = g.o, back.oh = g.h, back.ow = g.w, back.o = g.c;
  back.top = 2 - g.top, back.left = 2 - g.left;
  TransformedTiles weights = TransformWeight(weight, g.o, g.c, /*flip=*/true);
  Convolve(back, dy, weights, Transpose::kNo, nullptr, -std::numeric_limits<float>::infinity(), dx);
}

void WinogradBackwardWeight(const ConvGeometry& g, const float* x, const float* dy, float* dw) {
  const int64_t tiles = TileGrid(g).count, block = BlockTiles(g);
  TransformedTiles in(block, g.c), out(block, g.o), weight(g.o, g.c);
  for (int64_t first = 0; first < tiles; first += block) {
    const int64_t count = std::min(block, tiles - first);
    TransformInput(g, first, count, x, in);
    TransformOutputGradient(g, first, count, dy, out);
    ParallelFor(kWinogradPoints, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        Gemm(Transpose::kYes, Transpose::kNo, g.o, g.c, count, 1.0f, out.point(p), out.row(),
             in.point(p), in.row(), first == 0 ? 0.0f : 1.0f, weight.point(p), weight.row());
    });
  }
  ParallelFor(g.o, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      WinogradWeightGradient(weight.at(i), g.c, weight.stride(), dw + i * 9 * g.c);
  });
}

}  // namespace torus::cpu
