// The CPU kernels of attention, on pointers. Matrices are float, double, or BFloat16 where the
// processor multiplies it natively; scores and sums of bf16 are f32.
#pragma once

#include <cstdint>

#include "runtime/dtype.h"
#include "runtime/rng.h"

namespace torus::cpu {

// The matrices of many heads. That of head h starts at data + offset[h]; its row stride is
// `stride`, and the elements of a row are adjacent. `data` is null if there are none.
template <class T>
struct HeadMatrices {
  T* data = nullptr;
  const int64_t* offset = nullptr;
  int64_t stride = 0;
  bool defined() const { return data != nullptr; }
  T* at(int64_t head, int64_t row = 0) const { return data + offset[head] + row * stride; }
};

// At most one of `allowed` and `added` is set. Element (row, key) of head h is at index offset[h] +
// row * row_step + key * key_step.
template <class T>
struct ScoreMask {
  const bool* allowed = nullptr;
  const T* added = nullptr;
  const int64_t* offset = nullptr;
  int64_t row_step = 0, key_step = 0;
};

// A weight becomes 0 if its word of the stream is below `threshold` (p 2^32), else it is multiplied
// by `scale`. `streams` is null without dropout.
struct WeightDropout {
  const RandomStream* streams = nullptr;
  int64_t heads_per_stream = 1;
  int64_t first_head = 0;  // the number of a stream's first head
  uint64_t threshold = 0;
  double scale = 1;
};

// The arguments of one attention. Query heads [g * group, (g + 1) * group) use key head g.
template <class T>
struct AttentionCall {
  int64_t heads, key_heads, group;  // of all samples; group is 0 if there are no query heads
  int64_t rows, keys, width, value_width;
  SumOf<T> scale;
  bool causal;
  HeadMatrices<const T> q, k, v;
  ScoreMask<SumOf<T>> mask;
  WeightDropout dropout;
};

// For each row of scores, (heads, rows): the largest score, and log_sum = log sum_j exp(score_j -
// largest); ops/attention/problem.h says why they are separate.
template <class T>
struct RowNorms {
  T *largest, *log_sum;
};

// Writes `out` and `norms`. double: plain loops. float and BFloat16: tiles.
void Attention(const AttentionCall<float>& call, const HeadMatrices<float>& out,
               const RowNorms<float>& norms);
void Attention(const AttentionCall<BFloat16>& call, const HeadMatrices<BFloat16>& out,
               const RowNorms<float>& norms);
void Attention(const AttentionCall<double>& call, const HeadMatrices<double>& out,
               const RowNorms<double>& norms);

// The outputs of the forward, and the gradient of its result.
template <class T>
struct AttentionResult {
  HeadMatrices<const T> out, dout;
  RowNorms<const SumOf<T>> norms;
};

// The gradients of query (by query head), key and value (by key head); undefined ones are not
// computed.
template <class T>
struct AttentionGradient {
  HeadMatrices<T> query, key, value;
};

// One thread handles a whole key head, so sums always run in the same order. Leaving out one
// gradient does not change the bits of the others.
void AttentionBackward(const AttentionCall<float>& call, const AttentionResult<float>& result,
                       const AttentionGradient<float>& d);
void AttentionBackward(const AttentionCall<BFloat16>& call, const AttentionResult<BFloat16>& result,
                       const AttentionGradient<BFloat16>& d);
void AttentionBackward(const AttentionCall<double>& call, const AttentionResult<double>& result,
                       const AttentionGradient<double>& d);

// Writes factor[j] = 0 or dropout.scale for the weights of keys [key, key + count) of one row.
// `key` must be a multiple of 4.
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
