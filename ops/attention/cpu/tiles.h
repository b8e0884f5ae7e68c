// Shared by the tiled forward and backward: the scores of one tile, and dropout on it.
#pragma once

#include "ops/attention/cpu/attention_call.h"
#include "ops/attention/cpu/score_rows.h"

namespace torus::cpu {

// The position and size of a tile in the scores of one query head.
struct TilePlace {
  int64_t head, row, rows, key, keys;
};

// The number of keys that rows up to `last_row` attend to.
template <class T>
int64_t KeysSeen(const AttentionCall<T>& call, int64_t last_row) {
  return call.causal && last_row + 1 < call.keys ? last_row + 1 : call.keys;
}

// data = scale q k^T + mask, for the tile at `place`. Keys hidden by the causal mask are left to
// the row kernels.
template <class T>
ScoreTile ComputeScores(const AttentionCall<T>& call, const TilePlace& place, float* data,
                        int64_t stride);

// Multiplies the tile by dropout's factors; `factor` is scratch for one row. Does nothing without
// dropout.
template <class T>
void ApplyDropout(const AttentionCall<T>& call, const TilePlace& place, float* data, int64_t stride,
                  float* factor);

}  // namespace torus::cpu
