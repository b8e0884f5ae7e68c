#include <algorithm>
#include <limits>

#include "ops/pooling/cpu/pool_rows.h"
#include "ops/pooling/max_taps.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kTile = 64;  // channels compared at a time, held on the stack

using ops::MaxTaps;

template <class T>
void Largest(const T* in, int64_t w, int64_t c, const MaxTaps& rows, const MaxTaps& columns,
             int64_t width, T* out, int32_t* index) {
  T best[kTile];
  int32_t where[kTile];
  std::fill(best, best + width, -std::numeric_limits<T>::infinity());
  const int64_t first = rows.empty() || columns.empty() ? -1 : rows.first * w + columns.first;
  std::fill(where, where + width, static_cast<int32_t>(first));
  for (int64_t y = rows.first; y < rows.end; y += rows.step) {
    for (int64_t x = columns.first; x < columns.end; x += columns.step) {
      const T* pixel = in + (y * w + x) * c;
      const int32_t here = static_cast<int32_t>(y * w + x);
      for (int64_t k = 0; k < width; ++k) {
        const T v = pixel[k];
        // A NaN is taken, and then only replaced by another NaN; `|` keeps the loop free of
        // branches.
        const bool take = (v > best[k]) | (v != v);
        best[k] = take ? v : best[k];
        where[k] = take ? here : where[k];
      }
    }
  }
  std::copy(best, best + width, out);
  std::copy(where, where + width, index);
}

}  // namespace

template <class T>
void MaxPool(const PoolImage& image, const MaxPoolWindow& window, const T* in, T* out,
             int32_t* index) {
  const int64_t work = window.out_w * image.c * window.rows.kernel * window.columns.kernel + 1;
  ParallelFor(image.n * window.out_h, (1 << 14) / work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const T* plane = in + line / window.out_h * image.h * image.w * image.c;
      const MaxTaps rows(window.rows, line % window.out_h, image.h);
      for (int64_t j = 0; j < window.out_w; ++j) {
        const MaxTaps columns(window.columns, j, image.w);
        const int64_t at = (line * window.out_w + j) * image.c;
        for (int64_t k = 0; k < image.c; k += kTile)
          Largest(plane + k, image.w, image.c, rows, columns, std::min(kTile, image.c - k),
                  out + at + k, index + at + k);
      }
    }
  });
}

template <class T>
void MaxPoolBackward(const PoolImage& image, int64_t out_pixels, const T* dout,
                     const int32_t* index, T* din) {
  const int64_t in_size = image.h * image.w * image.c, out_size = out_pixels * image.c;
  const int64_t tiles = (image.c + kTile - 1) / kTile;
  ParallelFor(image.n * tiles, (1 << 14) / (in_size / tiles + 1) + 1,
              [&](int64_t begin, int64_t end) {
                for (int64_t task = begin; task < end; ++task) {
                  const int64_t n = task / tiles, first = task % tiles * kTile;
                  const int64_t last = std::min(first + kTile, image.c);
                  T* to = din + n * in_size;
                  for (int64_t p = 0; p < in_size; p += image.c)
                    std::fill(to + p + first, to + p + last, T(0));
                  for (int64_t p = n * out_size; p < (n + 1) * out_size; p += image.c)
                    for (int64_t k = first; k < last; ++k)
                      if (index[p + k] >= 0) to[index[p + k] * image.c + k] += dout[p + k];
                }
              });
}

#define TORUS_INSTANTIATE(T)                                                             \
  template void MaxPool(const PoolImage&, const MaxPoolWindow&, const T*, T*, int32_t*); \
  template void MaxPoolBackward(const PoolImage&, int64_t, const T*, const int32_t*, T*);
TORUS_INSTANTIATE(float)
TORUS_INSTANTIATE(double)
#undef TORUS_INSTANTIATE

}  // namespace torus::cpu
