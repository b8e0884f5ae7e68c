#include <cstdint>

#include "ops/attention/cuda/flash_gradients.h"
#include "ops/attention/cuda/flash_scores.h"
#include "ops/attention/cuda/flash_tiles.h"
#include "ops/attention/cuda/visit_flash.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

// Gradients of 64 keys and their values, summed over all rows of their group of query heads. The
// next rows are copied while the block multiplies.
template <class T, int wide>
struct KeyGradientTile {
  // As many rows at a time as registers for their scores allow beside the sums of gradients.
  static constexpr int kDepth = wide == 64 ? 32 : 16, kColumns = kDepth / 8;
  static constexpr int kBlocks = 2, kSteps = wide / 16;
  using Tile = SharedTile<T, kFlashLines, wide>;
  using RowTile = SharedTile<T, kDepth, wide>;
  FlashGradientCall<T> of;
  HeadMatrices<T> dkey, dvalue;  // may be undefined

  __device__ void Run(uint32_t key_head, int tile) const {
    alignas(16) __shared__ unsigned char bytes[2][Tile::kBytes];
    alignas(16) __shared__ unsigned char row_bytes[2][2][RowTile::kBytes];
    const AttentionCall<T>& call = of.call;
    const Tile keys{bytes[0]}, values{bytes[1]};
    const int key = tile * kFlashLines;
    CopyToTile(RowsFrom(call.k, call.k.At(key_head, 0), key, call.keys, call.width), keys);
    CopyToTile(RowsFrom(call.v, call.v.At(key_head, 0), key, call.keys, call.value_width), values);
    FragmentC key_sums[wide / 8] = {}, value_sums[wide / 8] = {};
    const uint32_t group = static_cast<uint32_t>(call.group);
    for (uint32_t member = 0; member < group; ++member) {
      const FlashHead<T> head(call, key_head * group + member);
      const T* const q = call.q.At(head.number, 0);
      const T* const dout = of.dout.At(head.number, 0);
      const auto copy = [&](int row, int stage) {
        CopyToTile(RowsFrom(call.q, q, row, call.rows, call.width), RowTile{row_bytes[stage][0]});
        CopyToTile(RowsFrom(of.dout, dout, row, call.rows, call.value_width),
                   RowTile{row_bytes[stage][1]});
      };
      // With a causal mask, earlier rows do not attend to these keys.
      int row = call.causal ? key : 0;
      if (AllowedKeys(call, head.mask, key) == 0) row = static_cast<int>(call.rows);
      if (row < call.rows) copy(row, 0);
      for (int stage = 0; row < call.rows; row += kDepth, stage = 1 - stage) {
        ArriveAtTiles();
        if (row + kDepth < call.rows) copy(row + kDepth, 1 - stage);
        Add(head, {row, key}, keys, values, RowTile{row_bytes[stage][0]},
            RowTile{row_bytes[stage][1]}, key_sums, value_sums);
      }
      __syncthreads();  // the next head's rows are copied there
    }
    ArriveAtTiles();
    if (dkey.data != nullptr)
      WriteLines(key_sums, call.scale, call.scale, keys,
                 RowsFrom(dkey, dkey.At(key_head, 0), key, call.keys, call.width));
    const float growth = call.dropout.growth;
    if (dvalue.data != nullptr)
      WriteLines(value_sums, growth, growth, values,
                 RowsFrom(dvalue, dvalue.At(key_head, 0), key, call.keys, call.value_width));
  }

 private:
  __device__ void Add(const FlashHead<T>& head, const FlashTile& at, const Tile& keys,
                      const Tile& values, const RowTile& queries, const RowTile& douts,
                      FragmentC (&key_sums)[wide / 8], FragmentC (&value_sums)[wide / 8]) const {
    FragmentC weights[kColumns] = {}, gradients[kColumns] = {};
    AddProductsWithRows<kSteps>([&](int step) { return LinesOfWarp(keys, step); }, queries,
                                weights);
    ToScores<true>(of.call, head, at, weights);
    AddProductsWithRows<kSteps>([&](int step) { return LinesOfWarp(values, step); }, douts,
                                gradients);
    ToWeights(head, at, weights, gradients);
    AddProductsWithColumns([&](int step) { return RoundedLines<T>(weights, step); }, douts,
                           value_sums);
    AddProductsWithColumns([&](int step) { return RoundedLines<T>(gradients, step); }, queries,
                           key_sums);
  }

  // From scores to weights after dropout, without its growth, and from the gradients of those to
  // gradients of scores.
  __device__ void ToWeights(const FlashHead<T>& head, const FlashTile& at,
                            FragmentC (&weights)[kColumns],
                            FragmentC (&gradients)[kColumns]) const {
    const bool drops = of.call.dropout.streams != nullptr;
    KeptWeights kept{};
    if (drops) kept = KeptInTile<true, kColumns>(head.dropout, at);
    TORUS_UNROLL
    for (int tile = 0; tile < kColumns; ++tile) {
      TORUS_UNROLL
      for (int i = 0; i < 2; ++i) {
        const RowState state = of.State(head.number, at.row + ColumnOf(tile, i));
        TORUS_UNROLL
        for (int e = i; e < 4; e += 2) {
          float &weight = weights[tile].at[e], &gradient = gradients[tile].at[e];
          const float whole = state.Weight(weight);
          const bool keeps = !drops || kept.At(tile, e);
          gradient = whole * ((keeps ? gradient * of.call.dropout.growth : 0) - state.mean);
          weight = keeps ? whole : 0;
        }
      }
    }
  }
};

template <class T>
HeadMatrices<T> WriteIfWanted(Tensor& t) {
  return t.defined() ? Write<T>(t) : HeadMatrices<T>();
}

}  // namespace

void FlashKeyGradients(const FlashGradientArguments& arguments, Tensor& dkey, Tensor& dvalue,
                       StreamHandle stream) {
  VisitFlash(arguments.problem, arguments.dout.dtype(), [&]<class T, int wide>(FlashCase<T, wide>) {
    const FlashGradientCall<T> of(arguments);
    ForEachFlashTile(
        kOp, of.call.key_heads, of.call.keys, stream,
        KeyGradientTile<T, wide>{of, WriteIfWanted<T>(dkey), WriteIfWanted<T>(dvalue)});
  });
}

}  // namespace torus::cuda
