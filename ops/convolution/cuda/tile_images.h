// How a tile of a depthwise convolution reads and writes images. Only for kernel sources.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/cuda/pack_floats.h"
#include "runtime/cuda/unroll.h"

namespace torus::cuda {

inline constexpr int kTileChannels = 4;

// Sums, or widened elements, of neighbouring channels.
using ChannelFloats = Wide<float, kTileChannels>;

__device__ inline void AddProduct(const ChannelFloats& a, const ChannelFloats& b,
                                  ChannelFloats& sum) {
  TORUS_UNROLL
  for (int k = 0; k < kTileChannels; ++k) sum.at[k] += a.at[k] * b.at[k];
}

// Four channels of the pixels of one image.
template <class T>
struct ImageOfTile {
  T* channel;  // of pixel (0, 0)
  int height, width, channels;

  __device__ bool Has(int row, int column) const {
    return row >= 0 && row < height && column >= 0 && column < width;
  }
  // Zeros outside of the image.
  __device__ ChannelFloats Read(int row, int column) const {
    return Has(row, column) ? ReadWide<kTileChannels>(channel + PlaceOf(row, column))
                            : ChannelFloats{};
  }
  // Nothing outside of the image.
  __device__ void Write(int row, int column, const ChannelFloats& values) const {
    if (Has(row, column)) WriteRounded(values, channel + PlaceOf(row, column));
  }

 private:
  __device__ int PlaceOf(int row, int column) const { return (row * width + column) * channels; }
};

// Images (n, height, width, channels).
template <class T>
struct ImagesOfTiles {
  T* elements;
  int height, width, channels;

  __device__ ImageOfTile<T> At(int64_t image, int channel) const {
    return {elements + (image * height * width * channels + channel), height, width, channels};
  }
};

// The weights (channels, K, K) of four channels.
template <int K>
struct TileWeights {
  ChannelFloats at[K * K];

  template <class T>
  __device__ static TileWeights Of(const T* weight, int channel) {
    TileWeights weights;
    const T* const elements = weight + int64_t{channel} * K * K;
    TORUS_UNROLL
    for (int p = 0; p < K * K; ++p) {
      const ChannelFloats values = ReadWide<kTileChannels>(elements + p * kTileChannels);
      TORUS_UNROLL
      for (int k = 0; k < kTileChannels; ++k) {
        const int element = p * kTileChannels + k;
        weights.at[element % (K * K)].at[element / (K * K)] = values.at[k];
      }
    }
    return weights;
  }
};

// Tiles of all images in the order (image, row of tiles, column, four channels); below 2^31.
struct TileGrid {
  uint32_t rows, columns, packs;  // of an image

  int64_t count(int64_t images) const { return images * rows * columns * packs; }

  struct Place {
    int64_t image;
    int row, column, channel;
  };
  __device__ Place At(uint32_t tile) const {
    const uint32_t pixel = tile / packs, line = pixel / columns, image = line / rows;
    return {image, static_cast<int>(line - image * rows), static_cast<int>(pixel - line * columns),
            static_cast<int>(tile - pixel * packs) * kTileChannels};
  }
};

}  // namespace torus::cuda
