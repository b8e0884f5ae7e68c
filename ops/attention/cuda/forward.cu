#include "ops/attention/cuda/tile_attention.h"
//
#include "ops/attention/cuda/attention_call.h"
#include "ops/attention/cuda/tiles.h"
#include "runtime/cuda/block.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";
constexpr int kLanes = kTileThreads / kTile;  // threads that share a row of scores

// The state of the running softmax of a row.
template <class T>
struct RunningSoftmax {
  T largest = -std::numeric_limits<T>::infinity(), sum = T(0);

  // One step (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", algorithm
  // 3): the row's scores become exp(score - largest). Returns the factor for sums that used the old
  // maximum.
  __device__ T Take(T* row) {
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    T top = largest;
    for (int c = lane; c < kTile; c += kLanes) top = Larger()(top, row[c]);
    top = CombineLanes<kLanes>(top, Larger());
    // While all scores are -inf, any finite number may be subtracted: every weight is zero.
    const T offset = top == -std::numeric_limits<T>::infinity() ? T(0) : top;
    T more = T(0);
    for (int c = lane; c < kTile; c += kLanes) {
      row[c] = std::exp(row[c] - offset);
      more += row[c];
    }
    const T shrink = std::exp(largest - offset);
    largest = top;
    sum = sum * shrink + CombineLanes<kLanes>(more, Plus());
    return shrink;
  }
};

template <class T>
struct ForwardTile {
  AttentionCall<T> call;
  TileTasks tasks;
  HeadMatrices<T> out;
  T *largest, *log_sum;

  template <int kThreads>
  __device__ void Run(int64_t task) const {
    __shared__ ScoreTile<T> tile;
    __shared__ Stage<T> stage;
    __shared__ T factor[kTile];  // of each row's sums
    const int64_t head = tasks.Head(task), row = tasks.Row(task), column = tasks.Column(task);
    const int64_t count = call.rows - row < kTile ? call.rows - row : kTile;
    const int64_t own = row + threadIdx.x / kLanes;  // the row whose softmax this thread shares
    RunningSoftmax<T> softmax;
    TileSums<T> sums;
    Clear<T>(sums);
    const int64_t seen = call.KeysSeen(row + count);
    for (int64_t key = 0; key < seen; key += kTile) {
      Scores(head, row, count, key, stage, tile);
      T* const scores = tile[threadIdx.x / kLanes];
      const T shrink = softmax.Take(scores);
      Drop(head, own, key, scores);
      if (threadIdx.x % kLanes == 0) factor[threadIdx.x / kLanes] = shrink;
      __syncthreads();
      for (int i = 0; i < kPerThread; ++i)
        for (T& sum : sums[i]) sum *= factor[TileRow(i)];
      const int64_t keys = call.keys - key < kTile ? call.keys - key : kTile;
      AddWeighted<false, T>(tile, {call.v.At(head / call.group, key), call.v.stride, keys}, column,
                            call.value_width, stage, sums);
    }
    Finish(head, own, column, softmax, factor);
    __syncthreads();
    for (int i = 0; i < kPerThread; ++i)
      for (T& sum : sums[i]) sum *= factor[TileRow(i)];
    StoreSums<T>(sums, T(1), count, column, call.value_width, out.At(head, row), out.stride);
    __syncthreads();  // the next task writes the factors
  }

 private:
  __device__ void Scores(int64_t head, int64_t row, int64_t count, int64_t key, Stage<T>& stage,
                         ScoreTile<T>& tile) const {
    T dots[kPerThread][kPerThread];
    const int64_t keys = call.keys - key < kTile ? call.keys - key : kTile;
    TileDots<T>({call.q.At(head, row), call.q.stride, count},
                {call.k.At(head / call.group, key), call.k.stride, keys}, call.width, stage, dots);
    const int64_t start = call.mask.Start(head);
    for (int i = 0; i < kPerThread; ++i)
      for (int j = 0; j < kPerThread; ++j)
        tile[TileRow(i)][TileColumn(j)] =
            call.Score(dots[i][j], start, row + TileRow(i), key + TileColumn(j));
    __syncthreads();
  }

  __device__ void Drop(int64_t head, int64_t row, int64_t key, T* weights) const {
    if (call.dropout.streams == nullptr) return;
    for (int c = threadIdx.x % kLanes; c < kTile; c += kLanes)
      weights[c] *= call.dropout.Factor(head, row, key + c);
  }

  __device__ void Finish(int64_t head, int64_t row, int64_t column,
                         const RunningSoftmax<T>& softmax, T* factor) const {
    if (threadIdx.x % kLanes != 0) return;
    // A row that attends to nothing, or only to scores of -inf, gives zeros.
    const bool none = softmax.sum == T(0);
    factor[threadIdx.x / kLanes] = none ? T(0) : T(1) / softmax.sum;
    if (column != 0 || row >= call.rows) return;
    largest[head * call.rows + row] = none ? T(0) : softmax.largest;
    log_sum[head * call.rows + row] = none ? T(0) : std::log(softmax.sum);
  }
};

}  // namespace

void TileAttention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                   ops::AttentionOutputs& out, StreamHandle stream) {
  const Tensor places = HandOverStreams(kOp, problem.dropout.streams, out.out.device(), stream);
  VisitCompute(kOp, out.out.dtype(), [&]<class T>(ComputeType<T>) {
    const AttentionCall<T> call(problem, in, places);
    const TileTasks tasks(call.heads, call.rows, call.value_width);
    ForEachTile(kOp, tasks, stream,
                ForwardTile<T>{call, tasks, Write<T>(out.out), MutableElements<T>(out.largest),
                               MutableElements<T>(out.log_sum)});
  });
}

}  // namespace torus::cuda
