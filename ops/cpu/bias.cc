#include "ops/cpu/bias.h"

#include <algorithm>
#include <vector>

#include "ops/cpu/sum_parts.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

// total += the sum of the rows.
template <class T>
void AddRowsTo(const T* dy, int64_t rows, int64_t channels, double* total) {
  std::vector<SumOf<T>> block(channels);
  for (int64_t begin = 0; begin < rows; begin += 64) {
    std::fill(block.begin(), block.end(), SumOf<T>(0));
    for (int64_t r = begin; r < std::min(rows, begin + 64); ++r) {
      const T* row = dy + r * channels;
      for (int64_t c = 0; c < channels; ++c) block[c] += static_cast<SumOf<T>>(row[c]);
    }
    for (int64_t c = 0; c < channels; ++c) total[c] += block[c];
  }
}

}  // namespace

template <class T>
void AddBias(const T* bias, int64_t rows, int64_t channels, T* y) {
  ParallelFor(rows, 32768 / std::max<int64_t>(1, channels), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* row = y + r * channels;
      for (int64_t c = 0; c < channels; ++c) row[c] += bias[c];
    }
  });
}

template <class T>
void SumRows(const T* dy, int64_t rows, int64_t channels, SumOf<T>* sum) {
  const int64_t parts = SumParts(rows / 512);
  std::vector<double> totals(parts * channels);
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      const int64_t begin = rows * p / parts, end = rows * (p + 1) / parts;
      AddRowsTo(dy + begin * channels, end - begin, channels, totals.data() + p * channels);
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t p = 1; p < parts; ++p) totals[c] += totals[p * channels + c];
    sum[c] = static_cast<SumOf<T>>(totals[c]);
  }
}

template void AddBias(const float*, int64_t, int64_t, float*);
template void AddBias(const double*, int64_t, int64_t, double*);
template void SumRows(const float*, int64_t, int64_t, float*);
template void SumRows(const double*, int64_t, int64_t, double*);
template void SumRows(const BFloat16*, int64_t, int64_t, float*);

}  // namespace torus::cpu
