// Vectorised row operations of attention on a tile of scores. Tiles are row-major with `stride`
// elements between rows. Row r of a tile attends to its first min(keys, diagonal + r) keys, or none
// if that is negative. So `diagonal` is the number of keys of row 0; it is `keys` or more without a
// causal mask.
#pragma once

#include <cstdint>

namespace torus::cpu {

struct ScoreTile {
  float* data;
  int64_t stride, rows, keys, diagonal;
  // The number of keys that row r attends to.
  int64_t Seen(int64_t r) const {
    const int64_t seen = diagonal + r;
    return seen < 0 ? 0 : seen < keys ? seen : keys;
  }
};

// One step of the running softmax (Milakov and Gimelshein 2018, "Online normalizer calculation for
// softmax", algorithm 3): scores become exp(score - max) with the new maximum, or zero if not
// attended to. Updates largest[r] and sum[r]. Sums that used the old maximum must be multiplied by
// shrink[r].
void SoftmaxStep(const ScoreTile& tile, float* largest, float* sum, float* shrink);

// Scores become exp(score - largest[r] - log_sum[r]), or zero if not attended to.
void Weights(const ScoreTile& tile, const float* largest, const float* log_sum);

// gradient[r][j] = weight[r][j] (gradient[r][j] - mean[r]); `gradient` is a tile with the same
// stride.
void ScoreGradients(const ScoreTile& weight, const float* mean, float* gradient);

// out[r] = a[r] . b[r] over rows of `width`, `stride_a` and `stride_b` apart.
void RowDots(int64_t rows, int64_t width, const float* a, int64_t stride_a, const float* b,
             int64_t stride_b, float* out);

}  // namespace torus::cpu
