#include <cstdint>

#include "ops/attention/cuda/flash_gradients.h"
#include "ops/attention/cuda/flash_scores.h"
#include "ops/attention/cuda/flash_tiles.h"
#include "ops/attention/cuda/visit_flash.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

// Gradients of the queries of 64 rows of a head.
template <class T, int wide>
struct QueryGradientTile {
  static constexpr int kDepth = 32, kColumns = kDepth / 8;  // keys at a time
  static constexpr int kBlocks = wide == 64 ? 3 : 2, kSteps = wide / 16;
  using Tile = SharedTile<T, kFlashLines, wide>;
  using KeyTile = SharedTile<T, kDepth, wide>;
  FlashGradientCall<T> of;
  HeadMatrices<T> dquery;

  __device__ void Run(uint32_t number, int tile) const {
    static_assert(Tile::kBytes <= 2 * KeyTile::kBytes);
    alignas(16) __shared__ unsigned char bytes[2][2][KeyTile::kBytes];
    alignas(16) __shared__ unsigned char head_bytes[sizeof(FlashHead<T>)];
    const AttentionCall<T>& call = of.call;
    const int row = FirstRowOf(tile, call.rows);
    const int visible = KeysSeen(call, row + RowsLeft(row, static_cast<int>(call.rows)));
    const FlashHead<T>& head = SharedHead(call, number, head_bytes);
    const auto copy = [&](int key) {
      unsigned char(&to)[2][KeyTile::kBytes] = bytes[key / kDepth % 2];
      CopyToTile(RowsFrom(call.k, head.key, key, call.keys, call.width), KeyTile{to[0]});
      CopyToTile(RowsFrom(call.v, head.value, key, call.keys, call.value_width), KeyTile{to[1]});
    };
    FragmentA query[kSteps], dout[kSteps];
    const Tile first{bytes[0][0]}, second{bytes[1][0]};
    CopyToTile(RowsFrom(call.q, call.q.At(number, 0), row, call.rows, call.width), first);
    CopyToTile(RowsFrom(of.dout, of.dout.At(number, 0), row, call.rows, call.value_width), second);
    ArriveAtTiles();
    TORUS_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      query[step] = LinesOfWarp(first, step);
      dout[step] = LinesOfWarp(second, step);
    }
    __syncthreads();
    const int seen = WithoutPadding(call, head.mask, visible);
    FragmentC sums[wide / 8] = {};
    if (seen > 0) copy(0);
    for (int key = 0; key < seen; key += kDepth) {
      ArriveAtTiles();
      if (key + kDepth < seen) copy(key + kDepth);
      const KeyTile keys{bytes[key / kDepth % 2][0]}, values{bytes[key / kDepth % 2][1]};
      FragmentC weights[kColumns] = {}, gradients[kColumns] = {};
      AddProductsWithRows<kSteps>([&](int step) { return query[step]; }, keys, weights);
      const FlashTile at{row, key};
      ToScores<false>(call, head, at, weights);
      AddProductsWithRows<kSteps>([&](int step) { return dout[step]; }, values, gradients);
      ToScoreGradients(head, at, weights, gradients);
      AddProductsWithColumns([&](int step) { return RoundedLines<T>(gradients, step); }, keys,
                             sums);
    }
    __syncthreads();
    WriteLines(sums, call.scale, call.scale, first,
               RowsFrom(dquery, dquery.At(head.number, 0), row, call.rows, call.width));
  }

 private:
  // From scores, and the gradients of weights after dropout, to gradients of scores.
  __device__ void ToScoreGradients(const FlashHead<T>& head, const FlashTile& at,
                                   const FragmentC (&scores)[kColumns],
                                   FragmentC (&gradients)[kColumns]) const {
    // Read for each tile, since they would take registers between.
    const RowState upper = of.State(head.number, at.row + LineOf(0)),
                   lower = of.State(head.number, at.row + LineOf(2));
    const bool drops = of.call.dropout.streams != nullptr;
    KeptWeights kept{};
    if (drops) kept = KeptInTile<false, kColumns>(head.dropout, at);
    TORUS_UNROLL
    for (int tile = 0; tile < kColumns; ++tile) {
      TORUS_UNROLL
      for (int i = 0; i < 4; ++i) {
        const RowState& state = i < 2 ? upper : lower;
        float& gradient = gradients[tile].at[i];
        const bool keeps = !drops || kept.At(tile, i);
        gradient = state.Weight(scores[tile].at[i]) *
                   ((keeps ? gradient * of.call.dropout.growth : 0) - state.mean);
      }
    }
  }
};

}  // namespace

void FlashQueryGradient(const FlashGradientArguments& arguments, Tensor& dquery,
                        StreamHandle stream) {
  VisitFlash(arguments.problem, arguments.dout.dtype(), [&]<class T, int wide>(FlashCase<T, wide>) {
    const FlashGradientCall<T> of(arguments);
    ForEachFlashTile(kOp, of.call.heads, of.call.rows, stream,
                     QueryGradientTile<T, wide>{of, Write<T>(dquery)});
  });
}

}  // namespace torus::cuda
