#include "ops/attention/cpu/tiles.h"

#include <limits>

#include "ops/attention/cpu/tile_operand.h"

namespace torus::cpu {
namespace {

// Applies one row of a mask to one row of scores.
void MaskRow(const ScoreMask<float>& mask, int64_t at, int64_t keys, float* score) {
  const int64_t step = mask.key_step;
  if (mask.added != nullptr) {
    for (int64_t j = 0; j < keys; ++j) score[j] += mask.added[at + j * step];
    return;
  }
  for (int64_t j = 0; j < keys; ++j)
    score[j] = mask.allowed[at + j * step] ? score[j] : -std::numeric_limits<float>::infinity();
}

}  // namespace

template <class T>
ScoreTile ComputeScores(const AttentionCall<T>& call, const TilePlace& p, float* data,
                        int64_t stride) {
  RowsTimesRows(p.rows, p.keys, call.width, call.scale, call.q.at(p.head, p.row), call.q.stride,
                call.k.at(p.head / call.group, p.key), call.k.stride, data, stride);
  const ScoreMask<float>& mask = call.mask;
  for (int64_t r = 0; mask.offset != nullptr && r < p.rows; ++r)
    MaskRow(mask, mask.offset[p.head] + (p.row + r) * mask.row_step + p.key * mask.key_step, p.keys,
            data + r * stride);
  return {data, stride, p.rows, p.keys, call.causal ? p.row + 1 - p.key : p.keys};
}

template <class T>
void ApplyDropout(const AttentionCall<T>& call, const TilePlace& p, float* data, int64_t stride,
                  float* factor) {
  if (call.dropout.streams == nullptr) return;
  for (int64_t r = 0; r < p.rows; ++r) {
    DropoutFactors(call, p.head, p.row + r, p.key, p.keys, factor);
    float* row = data + r * stride;
    for (int64_t j = 0; j < p.keys; ++j) row[j] *= factor[j];
  }
}

#define TORUS_INSTANTIATE(T)                                                                    \
  template ScoreTile ComputeScores(const AttentionCall<T>&, const TilePlace&, float*, int64_t); \
  template void ApplyDropout(const AttentionCall<T>&, const TilePlace&, float*, int64_t, float*);
TORUS_INSTANTIATE(float)
TORUS_INSTANTIATE(BFloat16)
#undef TORUS_INSTANTIATE

}  // namespace torus::cpu
