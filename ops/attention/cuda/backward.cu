#include "ops/attention/cuda/tile_attention.h"
//
#include "ops/attention/cuda/attention_call.h"
#include "ops/attention/cuda/tiles.h"
#include "ops/cuda/softmax_rows.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

// The outputs of the forward, the gradient of its result, and for each row the dot product of
// result and gradient: sum_j weight_j d weight_j.
template <class T>
struct Result {
  HeadMatrices<const T> out, dout;
  const T *largest, *log_sum;
  T* mean;
};

template <class T>
struct MeanOfRow {
  Result<T> result;
  int64_t rows, width;
  template <int kThreads>
  __device__ void Run(int64_t at) const {
    const int64_t head = at / rows, row = at % rows;
    const T *out = result.out.At(head, row), *dout = result.dout.At(head, row);
    const T sum = SumOfRow<kThreads, T>(width, [&](int64_t i) { return out[i] * dout[i]; });
    if (threadIdx.x == 0) result.mean[at] = sum;
  }
};

// The position of a tile of scores: its query head, first row and first key.
struct Place {
  int64_t head, row, key;
};

// Recomputes the weights of a tile, and computes their gradients.
template <class T>
struct Weights {
  AttentionCall<T> call;
  Result<T> result;

  __device__ TileRows<T> Rows(const HeadMatrices<const T>& m, const Place& p) const {
    return {m.At(p.head, p.row), m.stride, call.rows - p.row < kTile ? call.rows - p.row : kTile};
  }
  __device__ TileRows<T> Keys(const HeadMatrices<const T>& m, const Place& p) const {
    return {m.At(p.head / call.group, p.key), m.stride,
            call.keys - p.key < kTile ? call.keys - p.key : kTile};
  }

  // For the thread's own elements; 0 where a row does not attend to a key.
  __device__ void Compute(const Place& p, Stage<T>& stage,
                          T (&weights)[kPerThread][kPerThread]) const {
    TileDots<T>(Rows(call.q, p), Keys(call.k, p), call.width, stage, weights);
    const int64_t start = call.mask.Start(p.head);
    for (int i = 0; i < kPerThread; ++i) {
      const int64_t row = p.row + TileRow(i), at = p.head * call.rows + row;
      const T top = row < call.rows ? result.largest[at] : T(0);
      const T sum = row < call.rows ? result.log_sum[at] : T(0);
      for (int j = 0; j < kPerThread; ++j)
        weights[i][j] =
            std::exp(call.Score(weights[i][j], start, row, p.key + TileColumn(j)) - top - sum);
    }
  }

  // tile = the factors for the gradients of the values: the weights after dropout.
  __device__ void Dropped(const Place& p, Stage<T>& stage, ScoreTile<T>& tile) const {
    T weights[kPerThread][kPerThread];
    Compute(p, stage, weights);
    for (int i = 0; i < kPerThread; ++i)
      for (int j = 0; j < kPerThread; ++j)
        tile[TileRow(i)][TileColumn(j)] =
            weights[i][j] * call.dropout.Factor(p.head, p.row + TileRow(i), p.key + TileColumn(j));
  }

  // tile = the gradients of the scores, weight (d weight - mean).
  __device__ void ScoreGradients(const Place& p, Stage<T>& stage, ScoreTile<T>& tile) const {
    T weights[kPerThread][kPerThread], d[kPerThread][kPerThread];
    Compute(p, stage, weights);
    TileDots<T>(Rows(result.dout, p), Keys(call.v, p), call.value_width, stage, d);
    for (int i = 0; i < kPerThread; ++i) {
      const int64_t row = p.row + TileRow(i);
      const T mean = row < call.rows ? result.mean[p.head * call.rows + row] : T(0);
      for (int j = 0; j < kPerThread; ++j)
        tile[TileRow(i)][TileColumn(j)] =
            weights[i][j] *
            (d[i][j] * call.dropout.Factor(p.head, row, p.key + TileColumn(j)) - mean);
    }
  }
};

// Computes scale sum_j d score_j key_j for 64 rows.
template <class T>
struct QueryGradient {
  Weights<T> weights;
  TileTasks tasks;
  HeadMatrices<T> to;
  template <int kThreads>
  __device__ void Run(int64_t task) const {
    __shared__ ScoreTile<T> tile;
    __shared__ Stage<T> stage;
    const AttentionCall<T>& call = weights.call;
    const int64_t head = tasks.Head(task), row = tasks.Row(task), column = tasks.Column(task);
    const int64_t count = call.rows - row < kTile ? call.rows - row : kTile;
    const int64_t seen = call.KeysSeen(row + count);
    TileSums<T> sums;
    Clear<T>(sums);
    for (int64_t key = 0; key < seen; key += kTile) {
      const Place place{head, row, key};
      weights.ScoreGradients(place, stage, tile);
      AddWeighted<false, T>(tile, weights.Keys(call.k, place), column, call.width, stage, sums);
    }
    StoreSums<T>(sums, call.scale, count, column, call.width, to.At(head, row), to.stride);
  }
};

// Gradients for 64 keys, summed over all rows of their group of query heads: of the keys, scale
// sum_i d score_i query_i, or of their values, sum_i weight_i dout_i.
template <class T, bool of_values>
struct KeyGradient {
  Weights<T> weights;
  TileTasks tasks;
  HeadMatrices<T> to;
  template <int kThreads>
  __device__ void Run(int64_t task) const {
    __shared__ ScoreTile<T> tile;
    __shared__ Stage<T> stage;
    const AttentionCall<T>& call = weights.call;
    const int64_t key_head = tasks.Head(task), key = tasks.Row(task), column = tasks.Column(task);
    const int64_t width = of_values ? call.value_width : call.width;
    TileSums<T> sums;
    Clear<T>(sums);
    for (int64_t head = key_head * call.group; head < (key_head + 1) * call.group; ++head) {
      // With a causal mask, earlier rows do not attend to these keys.
      for (int64_t row = call.causal ? key : 0; row < call.rows; row += kTile) {
        const Place place{head, row, key};
        if constexpr (of_values)
          weights.Dropped(place, stage, tile);
        else
          weights.ScoreGradients(place, stage, tile);
        AddWeighted<true, T>(tile, weights.Rows(of_values ? weights.result.dout : call.q, place),
                             column, width, stage, sums);
      }
    }
    const int64_t count = call.keys - key < kTile ? call.keys - key : kTile;
    StoreSums<T>(sums, of_values ? T(1) : call.scale, count, column, width, to.At(key_head, key),
                 to.stride);
  }
};

template <class T>
void Gradients(const Weights<T>& weights, ops::AttentionGradients& d, StreamHandle stream) {
  const AttentionCall<T>& call = weights.call;
  if (d.query.defined() || d.key.defined())
    ForEachRow(kOp, call.heads * call.rows, call.value_width, stream,
               MeanOfRow<T>{weights.result, call.rows, call.value_width});
  if (d.query.defined()) {
    const TileTasks tasks(call.heads, call.rows, call.width);
    ForEachTile(kOp, tasks, stream, QueryGradient<T>{weights, tasks, Write<T>(d.query)});
  }
  if (d.key.defined()) {
    const TileTasks tasks(call.key_heads, call.keys, call.width);
    ForEachTile(kOp, tasks, stream, KeyGradient<T, false>{weights, tasks, Write<T>(d.key)});
  }
  if (d.value.defined()) {
    const TileTasks tasks(call.key_heads, call.keys, call.value_width);
    ForEachTile(kOp, tasks, stream, KeyGradient<T, true>{weights, tasks, Write<T>(d.value)});
  }
}

}  // namespace

void TileAttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                           const ops::AttentionOutputs& out, const Tensor& dout,
                           ops::AttentionGradients& gradients, StreamHandle stream) {
  const Tensor places = HandOverStreams(kOp, problem.dropout.streams, dout.device(), stream);
  VisitCompute(kOp, dout.dtype(), [&]<class T>(ComputeType<T>) {
    Tensor mean(out.largest.shape(), dout.dtype(), dout.device());
    Gradients(Weights<T>{AttentionCall<T>(problem, in, places),
                         {Read<T>(out.out), Read<T>(dout), Elements<T>(out.largest),
                          Elements<T>(out.log_sum), MutableElements<T>(mean)}},
              gradients, stream);
  });
}

}  // namespace torus::cuda
