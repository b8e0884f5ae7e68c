#include <algorithm>

#include "ops/pooling/cpu/pool_rows.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

using ops::AverageWindow;

constexpr int64_t kTile = 64;  // channels of one task, sums held on the stack

// Sum over a window of `width` channels: rows of pixels in T, each row added to the total, which
// keeps large windows (a global average) exact to a few eps.
template <class T>
void SumWindow(const T* in, int64_t w, int64_t c, const AverageWindow& row,
               const AverageWindow& column, int64_t width, T* total) {
  std::fill(total, total + width, T(0));
  for (int64_t y = row.begin; y < row.end; ++y) {
    T line[kTile] = {};
    for (int64_t x = column.begin; x < column.end; ++x) {
      const T* pixel = in + (y * w + x) * c;
      for (int64_t k = 0; k < width; ++k) line[k] += pixel[k];
    }
    for (int64_t k = 0; k < width; ++k) total[k] += line[k];
  }
}

bool IsEmpty(const AverageWindow& row, const AverageWindow& column) {
  return row.begin >= row.end || column.begin >= column.end;
}

}  // namespace

template <class T>
void AveragePool(const PoolImage& image, std::span<const AverageWindow> rows,
                 std::span<const AverageWindow> columns, const T* in, T* out) {
  const int64_t out_h = std::ssize(rows), out_w = std::ssize(columns);
  const int64_t tiles = (image.c + kTile - 1) / kTile;
  const int64_t work =
      image.h * image.w * std::min(image.c, kTile) / std::max<int64_t>(1, out_h) + 1;
  ParallelFor(image.n * out_h * tiles, (1 << 14) / work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t k = task % tiles * kTile, width = std::min(kTile, image.c - k);
      const int64_t line = task / tiles, n = line / out_h;
      const AverageWindow& row = rows[line % out_h];
      for (int64_t j = 0; j < out_w; ++j) {
        T total[kTile];
        SumWindow(in + n * image.h * image.w * image.c + k, image.w, image.c, row, columns[j],
                  width, total);
        const T divisor = IsEmpty(row, columns[j]) ? T(1) : T(row.divisor * columns[j].divisor);
        T* to = out + (line * out_w + j) * image.c + k;
        for (int64_t i = 0; i < width; ++i) to[i] = total[i] / divisor;
      }
    }
  });
}

namespace {

// One image, `width` channels from the pointers on. Windows may overlap.
template <class T>
void SpreadImage(const PoolImage& image, std::span<const AverageWindow> rows,
                 std::span<const AverageWindow> columns, int64_t width, const T* dout, T* din) {
  for (int64_t p = 0; p < image.h * image.w; ++p)
    std::fill(din + p * image.c, din + p * image.c + width, T(0));
  for (const AverageWindow& row : rows) {
    for (const AverageWindow& column : columns) {
      T share[kTile];
      const T divisor = IsEmpty(row, column) ? T(1) : T(row.divisor * column.divisor);
      for (int64_t i = 0; i < width; ++i) share[i] = dout[i] / divisor;
      dout += image.c;
      for (int64_t y = row.begin; y < row.end; ++y)
        for (int64_t x = column.begin; x < column.end; ++x)
          for (int64_t i = 0; i < width; ++i) din[(y * image.w + x) * image.c + i] += share[i];
    }
  }
}

}  // namespace

template <class T>
void AveragePoolBackward(const PoolImage& image, std::span<const AverageWindow> rows,
                         std::span<const AverageWindow> columns, const T* dout, T* din) {
  const int64_t tiles = (image.c + kTile - 1) / kTile,
                out_pixels = std::ssize(rows) * std::ssize(columns);
  const int64_t work = image.h * image.w * std::min(image.c, kTile) + 1;
  ParallelFor(image.n * tiles, (1 << 14) / work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t k = task % tiles * kTile, n = task / tiles;
      SpreadImage(image, rows, columns, std::min(kTile, image.c - k),
                  dout + n * out_pixels * image.c + k, din + n * image.h * image.w * image.c + k);
    }
  });
}

#define TORUS_INSTANTIATE(T)                                                          \
  template void AveragePool(const PoolImage&, std::span<const AverageWindow>,         \
                            std::span<const AverageWindow>, const T*, T*);            \
  template void AveragePoolBackward(const PoolImage&, std::span<const AverageWindow>, \
                                    std::span<const AverageWindow>, const T*, T*);
TORUS_INSTANTIATE(float)
TORUS_INSTANTIATE(double)
#undef TORUS_INSTANTIATE

}  // namespace torus::cpu
