// The raw kernels of attention.
#pragma once

#include <cstdint>

#include "runtime/rng.h"

namespace torus::cpu {

// The matrices of many heads: that of head h starts at data + offset[h]; its rows lie `stride`
// apart, the elements of a row side by side. Null data: there are none.
template <class T>
struct HeadMatrices {
  T* data = nullptr;
  const int64_t* offset = nullptr;
  int64_t stride = 0;
  bool defined() const { return data != nullptr; }
  T* at(int64_t head, int64_t row = 0) const { return data + offset[head] + row * stride; }
};

// At most one of the two pointers is set; element (row, key) of head h is at offset[h] +
// row * row_step + key * key_step.
template <class T>
struct ScoreMask {
  const bool* allowed = nullptr;
  const T* added = nullptr;
  const int64_t* offset = nullptr;
  int64_t row_step = 0, key_step = 0;
};

// Weights whose word of the stream is below `threshold` (p 2^32) become 0, the others grow by
// `scale`. Without streams there is no dropout.
struct WeightDropout {
  const RandomStream* streams = nullptr;
  int64_t heads_per_stream = 1;
  int64_t first_head = 0;  // the number of a stream's first one
  uint64_t threshold = 0;
  double scale = 1;
};

// One attention: query heads [g * group, (g + 1) * group) meet key head g.
template <class T>
struct AttentionCall {
  int64_t heads, key_heads, group;  // of all samples; without query heads a group is 0
  int64_t rows, keys, width, value_width;
  T scale;
  bool causal;
  HeadMatrices<const T> q, k, v;
  ScoreMask<T> mask;
  WeightDropout dropout;
};

// For each row of scores, (heads, rows): the largest score, and log_sum = log sum_j exp(score_j -
// largest); ops/attention/problem.h says why apart.
template <class T>
struct RowNorms {
  T *largest, *log_sum;
};

// Writes `out` and `norms`. double: plain loops. float: tiles.
void Attention(const AttentionCall<float>& call, const HeadMatrices<float>& out,
               const RowNorms<float>& norms);
void Attention(const AttentionCall<double>& call, const HeadMatrices<double>& out,
               const RowNorms<double>& norms);

// What the forward gave, and the gradient of its result.
template <class T>
struct AttentionResult {
  HeadMatrices<const T> out, dout;
  RowNorms<const T> norms;
};

// Of query (by query head), key and value (by key head); not computed where there is no memory.
template <class T>
struct AttentionGradient {
  HeadMatrices<T> query, key, value;
};

// A key head belongs to one thread: the sums run in one order. Which gradients are asked for does
// not change the bits of the others.
void AttentionBackward(const AttentionCall<float>& call, const AttentionResult<float>& result,
                       const AttentionGradient<float>& d);
void AttentionBackward(const AttentionCall<double>& call, const AttentionResult<double>& result,
                       const AttentionGradient<double>& d);

// factor[j] = 0 or dropout.scale for the weights of keys [key, key + count) of one row; `key` is a
// multiple of 4.
template <class T, class Call>
void DropoutFactors(const Call& call, int64_t head, int64_t row, int64_t key, int64_t count,
                    T* factor) {
  const WeightDropout& dropout = call.dropout;
  const int64_t number = dropout.first_head + head % dropout.heads_per_stream;
  const int64_t line = number * call.rows + row;
  constexpr int64_t kChunk = 256;
  uint32_t words[kChunk];
  for (int64_t j = 0; j < count; j += kChunk) {
    const int64_t n = count - j < kChunk ? count - j : kChunk;
    dropout.streams[head / dropout.heads_per_stream].Blocks(
        static_cast<uint64_t>(line * ((call.keys + 3) / 4) + (key + j) / 4), (n + 3) / 4, words);
    for (int64_t i = 0; i < n; ++i)
      factor[j + i] = words[i] >= dropout.threshold ? static_cast<T>(dropout.scale) : T(0);
  }
}

}  // namespace torus::cpu
