#include <cmath>
#include <cstdint>

#include "ops/attention/cuda/attention_call.h"
#include "ops/attention/cuda/flash_attention.h"
#include "ops/attention/cuda/flash_scores.h"
#include "ops/attention/cuda/flash_tiles.h"
#include "ops/attention/cuda/visit_flash.h"
//
#include "runtime/cuda/block.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

// The running softmax of the two lines that a lane has elements of (Milakov and Gimelshein 2018,
// "Online normalizer calculation for softmax", algorithm 3).
struct RunningLines {
  float largest[2] = {kHidden, kHidden};
  float sum[2] = {};  // of the lane's own columns

  // Scores become exp(score - largest), and sums that used the old maximum shrink.
  template <int tiles, int columns>
  __device__ void Take(FragmentC (&scores)[tiles], FragmentC (&sums)[columns]) {
    TORUS_UNROLL
    for (int line = 0; line < 2; ++line) {
      float top = largest[line];
      TORUS_UNROLL
      for (int tile = 0; tile < tiles; ++tile)
        top = fmaxf(top, fmaxf(scores[tile].at[2 * line], scores[tile].at[2 * line + 1]));
      top = CombineLanes<4>(top, Larger());
      // While all scores are -inf, any finite number may be subtracted: every weight is zero.
      const float offset = top == kHidden ? 0 : top;
      const float shrink = Exp2((largest[line] - offset) * kLog2E);
      largest[line] = top;
      sum[line] *= shrink;
      TORUS_UNROLL
      for (int c = 0; c < columns; ++c) {
        sums[c].at[2 * line] *= shrink;
        sums[c].at[2 * line + 1] *= shrink;
      }
      TORUS_UNROLL
      for (int i = 0; i < 2 * tiles; ++i) {
        float& score = scores[i / 2].at[2 * line + i % 2];
        score = Exp2((score - offset) * kLog2E);
        sum[line] += score;
      }
    }
  }
};

// The result for 64 rows of a head. While the block multiplies with a tile of keys, that of the
// values is copied, and the other way round.
template <class T, int wide>
struct FlashForward {
  static constexpr int kBlocks = wide == 64 ? 3 : 2;
  using Tile = SharedTile<T, kFlashLines, wide>;
  static constexpr int kSteps = wide / 16;
  AttentionCall<T> call;
  HeadMatrices<T> out;
  float *largest, *log_sum;

  __device__ void Run(uint32_t number, int tile) const {
    alignas(16) __shared__ unsigned char bytes[2][Tile::kBytes];
    alignas(16) __shared__ unsigned char head_bytes[sizeof(FlashHead<T>)];
    const Tile keys{bytes[0]}, values{bytes[1]};
    // With a causal mask later rows see more keys: their blocks begin first.
    const int row = FirstRowOf(tile, call.rows);
    const int visible = KeysSeen(call, row + RowsLeft(row, static_cast<int>(call.rows)));
    const FlashHead<T>& head = SharedHead(call, number, head_bytes);
    CopyToTile(RowsFrom(call.q, call.q.At(number, 0), row, call.rows, call.width), values);
    if (visible > 0)
      CopyToTile(RowsFrom(call.k, call.k.At(KeyHeadOf(call, number), 0), 0, call.keys, call.width),
                 keys);
    ArriveAtTiles();
    FragmentA query[kSteps];
    TORUS_UNROLL
    for (int step = 0; step < kSteps; ++step) query[step] = LinesOfWarp(values, step);
    __syncthreads();  // the values' tile is free
    RunningLines softmax;
    const int seen = WithoutPadding(call, head.mask, visible);
    FragmentC sums[wide / 8] = {};
    for (int key = 0; key < seen; key += kFlashLines) {
      CopyToTile(RowsFrom(call.v, head.value, key, call.keys, call.value_width), values);
      FragmentC scores[kFlashLines / 8] = {};
      AddProductsWithRows<kSteps>([&](int step) { return query[step]; }, keys, scores);
      ArriveAtTiles();
      if (key + kFlashLines < seen)
        CopyToTile(RowsFrom(call.k, head.key, key + kFlashLines, call.keys, call.width), keys);
      const FlashTile at{row, key};
      ToScores<false>(call, head, at, scores);
      softmax.Take(scores, sums);
      if (call.dropout.streams != nullptr) Drop(head, at, scores);
      AddProductsWithColumns([&](int step) { return RoundedLines<T>(scores, step); }, values, sums);
      ArriveAtTiles();
    }
    const float upper = Finish(head.number, row, 0, softmax),
                lower = Finish(head.number, row, 1, softmax);
    WriteLines(sums, upper, lower, keys,
               RowsFrom(out, out.At(head.number, 0), row, call.rows, call.value_width));
  }

 private:
  template <int columns>
  __device__ void Drop(const FlashHead<T>& head, const FlashTile& at,
                       FragmentC (&weights)[columns]) const {
    const KeptWeights kept = KeptInTile<false, columns>(head.dropout, at);
    TORUS_UNROLL
    for (int tile = 0; tile < columns; ++tile) {
      TORUS_UNROLL
      for (int i = 0; i < 4; ++i)
        if (!kept.At(tile, i)) weights[tile].at[i] = 0;
    }
  }

  // Writes what the backward needs of one of the lane's lines; returns the factor of its sums.
  __device__ float Finish(uint32_t head, int first, int line, const RunningLines& softmax) const {
    const float sum = CombineLanes<4>(softmax.sum[line], Plus());
    // A row that attends to nothing, or only to scores of -inf, gives zeros.
    const bool none = sum == 0;
    const int row = first + LineOf(2 * line);
    if (FlashLane() % 4 == 0 && row < call.rows) {
      largest[head * call.rows + row] = none ? 0 : softmax.largest[line];
      log_sum[head * call.rows + row] = none ? 0 : std::log(sum);
    }
    return none ? 0 : call.dropout.growth / sum;
  }
};

}  // namespace

bool FlashTakes(const ops::AttentionProblem& problem, DType dtype) {
  const ops::AttentionShape& s = problem.shape;
  return IsLow(dtype) && std::max(s.width, s.value_width) <= kFlashWidest &&
         std::max(s.rows, s.keys) <= kFlashLongest;
}

void FlashAttention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                    ops::AttentionOutputs& out, StreamHandle stream) {
  const Tensor places = HandOverStreams(kOp, problem.dropout.streams, out.out.device(), stream);
  VisitFlash(problem, out.out.dtype(), [&]<class T, int wide>(FlashCase<T, wide>) {
    const AttentionCall<T> call(problem, in, places);
    ForEachFlashTile(
        kOp, call.heads, call.rows, stream,
        FlashForward<T, wide>{call, Write<T>(out.out), MutableElements<float>(out.largest),
                              MutableElements<float>(out.log_sum)});
  });
}

}  // namespace torus::cuda
