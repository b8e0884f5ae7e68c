// The arguments of the GPU kernels of attention. T is the type of the elements; scores and sums are
// SumOf<T>. For kernel sources only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/attention/problem.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/strided.h"
#include "runtime/element_cast.h"
//
#include "runtime/cuda/random_streams.h"

namespace torus::cuda {

// Where the matrix of each head of a tensor starts.
inline StridedWalk<1> WalkHeads(const Tensor& t) {
  BroadcastPlan plan{.operands = 1};
  for (int d = 0; d + 2 < t.rank(); ++d) {
    plan.shape.push_back(t.dim(d));
    plan.strides[0].push_back(t.strides()[d]);
  }
  return WalkOf<1>(MergedPlan(plan));
}

// Whether the rows of all matrices start at multiples of 16 bytes and are as long.
inline bool HasWholeVectors(const Tensor& t) {
  const int64_t vector = 16 / static_cast<int64_t>(SizeOf(t.dtype()));
  bool whole = reinterpret_cast<uintptr_t>(t.raw()) % 16 == 0 && t.dim(-1) % vector == 0;
  for (int d = 0; d + 1 < t.rank(); ++d)
    whole = whole && (t.dim(d) <= 1 || t.strides()[d] % vector == 0);
  return whole;
}

// The matrices of many heads; the elements of a row are adjacent, and the row stride is `stride`.
template <class T>
struct HeadMatrices {
  HeadMatrices() = default;
  HeadMatrices(const Tensor& t, T* elements)
      : data(elements),
        heads(WalkHeads(t)),
        stride(t.strides()[t.rank() - 2]),
        vectors(HasWholeVectors(t)) {}
  __device__ T* At(int64_t head, int64_t row) const {
    return data + heads(head).at[0] + row * stride;
  }

  T* data = nullptr;
  StridedWalk<1> heads;
  int64_t stride = 0;
  bool vectors = false;  // HasWholeVectors
};

template <class T>
HeadMatrices<const T> Read(const Tensor& t) {
  return {t, Elements<T>(t)};
}

template <class T>
HeadMatrices<T> Write(Tensor& t) {
  return {t, MutableElements<T>(t)};
}

// At most one of `allowed` and `added` is set.
template <class T>
struct ScoreMask {
  ScoreMask() = default;
  explicit ScoreMask(const Tensor& t)
      : allowed(t.dtype() == DType::kBool ? Elements<bool>(t) : nullptr),
        added(t.dtype() == DType::kBool ? nullptr : Elements<T>(t)),
        heads(WalkHeads(t)),
        row_step(t.strides()[t.rank() - 2]),
        key_step(t.strides()[t.rank() - 1]) {}
  // Where the mask of head `head` starts; 0 without a mask.
  __device__ int64_t Start(int64_t head) const { return defined() ? heads(head).at[0] : 0; }
  __device__ SumOf<T> Masked(SumOf<T> score, int64_t start, int64_t row, int64_t key) const {
    const int64_t at = start + row * row_step + key * key_step;
    if (added != nullptr) return score + ElementCast<SumOf<T>, T>()(added[at]);
    if (allowed == nullptr || allowed[at]) return score;
    return -std::numeric_limits<SumOf<T>>::infinity();
  }
  __device__ bool defined() const { return allowed != nullptr || added != nullptr; }

  const bool* allowed = nullptr;
  const T* added = nullptr;
  StridedWalk<1> heads;
  int64_t row_step = 0, key_step = 0;
};

// The random numbers for the weights of one head.
struct HeadDropout {
  // A bit for each of the keys 4 block to 4 block + 3 of a row: whether its weight is kept.
  __device__ uint32_t Kept(int64_t row, int64_t block) const {
    const PhiloxWords words = place.Block(first + row * blocks + block);
    uint32_t kept = 0;
    for (int i = 0; i < 4; ++i) kept |= (words.word[i] >= threshold ? 1u : 0u) << i;
    return kept;
  }

  StreamPlace place;
  int64_t first, blocks;  // the block of row 0 and key 0, and blocks per row
  uint64_t threshold;
};

// The factor of a weight: 0, or 1 / (1 - p). `places` has the streams of the dropout
// (HandOverStreams).
template <class T>
struct WeightDropout {
  WeightDropout() = default;
  WeightDropout(const ops::KeyedDropout& dropout, const Tensor& places, int64_t rows, int64_t keys)
      : rows(rows), blocks((keys + 3) / 4), heads(dropout.heads), first(dropout.first_head) {
    if (dropout.streams.empty()) return;
    streams = StreamsIn(places);
    threshold = dropout.Threshold();
    growth = static_cast<T>(dropout.Growth());
  }
  __device__ T Factor(int64_t head, int64_t row, int64_t key) const {
    if (streams == nullptr) return T(1);
    const int64_t line = (first + head % heads) * rows + row;
    const PhiloxWords words = streams[head / heads].Block(line * blocks + key / 4);
    return words.word[key % 4] >= threshold ? growth : T(0);
  }
  // There are streams.
  __device__ HeadDropout OfHead(uint32_t head) const {
    const uint32_t of_stream = static_cast<uint32_t>(heads);
    return {streams[head / of_stream], (first + head % of_stream) * rows * blocks, blocks,
            threshold};
  }

  const StreamPlace* streams = nullptr;
  int64_t rows = 0, blocks = 0;  // blocks of four keys per row
  int64_t heads = 1;             // per stream
  int64_t first = 0;             // the number of the first head
  uint64_t threshold = 0;
  T growth = T(1);
};

template <class T>
struct AttentionCall {
  AttentionCall(const ops::AttentionProblem& p, const ops::AttentionInputs& in,
                const Tensor& places)
      : heads(Numel(p.shape.batch)),
        key_heads(Numel(p.shape.key_batch)),
        group(p.shape.group),
        rows(p.shape.rows),
        keys(p.shape.keys),
        width(p.shape.width),
        value_width(p.shape.value_width),
        scale(static_cast<SumOf<T>>(p.scale)),
        causal(p.causal),
        q(Read<T>(in.query)),
        k(Read<T>(in.key)),
        v(Read<T>(in.value)),
        dropout(p.dropout, places, rows, keys) {
    if (in.mask.defined()) mask = ScoreMask<T>(in.mask);
  }

  // The number of keys that rows before `row` attend to.
  __device__ int64_t KeysSeen(int64_t row) const { return causal && row < keys ? row : keys; }
  // The masked score; -inf for a key that the row does not attend to. `start` is mask.Start of the
  // head.
  __device__ SumOf<T> Score(SumOf<T> dot, int64_t start, int64_t row, int64_t key) const {
    if (row >= rows || key >= keys || (causal && key > row))
      return -std::numeric_limits<SumOf<T>>::infinity();
    return mask.Masked(scale * dot, start, row, key);
  }

  int64_t heads, key_heads, group;  // of all samples; group is 0 if there are no query heads
  int64_t rows, keys, width, value_width;
  SumOf<T> scale;
  bool causal;
  HeadMatrices<const T> q, k, v;
  ScoreMask<T> mask;
  WeightDropout<SumOf<T>> dropout;
};

}  // namespace torus::cuda
