// Dropout's draws for a tile of attention, on an emulated GPU.
#include "ops/attention/cuda/kept_weights.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/emulated_gpu/queues.h"
//
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

// Whether the weight of a row and a key is kept, as a draw of four keys says it.
uint32_t FourKeys(int row, int block) {
  const uint32_t mixed = static_cast<uint32_t>(row * 131 + block * 2777 + 5) * 0x9E3779B9u;
  return mixed >> 28;
}

bool IsKept(int row, int key) { return (FourKeys(row, key / 4) >> key % 4 & 1u) != 0; }

// Counts the draws of each row and block of keys.
struct CountedDraw {
  int blocks;
  int* counts;
  __device__ uint32_t operator()(int row, int block) const {
    ++counts[row * blocks + block];
    return FourKeys(row, block);
  }
};

// The flags of each lane's elements.
template <bool by_keys, int tiles>
struct Draw {
  CountedDraw draw;
  bool* kept;
  template <int kThreads>
  __device__ void Run(int64_t) const {
    const KeptWeights weights = by_keys ? KeptByKeys<tiles>(draw) : KeptByRows<tiles>(draw);
    for (int tile = 0; tile < tiles; ++tile)
      for (int i = 0; i < 4; ++i) kept[(threadIdx.x * tiles + tile) * 4 + i] = weights.At(tile, i);
  }
};

template <bool by_keys, int tiles>
void ExpectOneDrawForFourKeys() {
  constexpr int kRows = by_keys ? 8 * tiles : 16, kKeys = by_keys ? 16 : 8 * tiles;
  std::vector<int> counts(kRows * kKeys / 4, 0);
  bool kept[32 * tiles * 4];
  ForEachBlock<32>("draw", 1, nullptr, Draw<by_keys, tiles>{{kKeys / 4, counts.data()}, kept});
  emulated_gpu::WaitForStream(nullptr);
  EXPECT_EQ(counts, std::vector<int>(counts.size(), 1));
  for (int lane = 0; lane < 32; ++lane)
    for (int tile = 0; tile < tiles; ++tile)
      for (int i = 0; i < 4; ++i) {
        const int line = lane / 4 + i / 2 * 8, column = 8 * tile + lane % 4 * 2 + i % 2;
        EXPECT_EQ(kept[(lane * tiles + tile) * 4 + i],
                  by_keys ? IsKept(column, line) : IsKept(line, column))
            << "lane " << lane << ", fragment " << tile << ", element " << i;
      }
}

TEST(KeptWeights, ByRowsAreDrawnOnceForFourKeys) {
  ExpectOneDrawForFourKeys<false, 8>();
  ExpectOneDrawForFourKeys<false, 4>();
}

TEST(KeptWeights, ByKeysAreDrawnOnceForFourKeys) {
  ExpectOneDrawForFourKeys<true, 8>();
  ExpectOneDrawForFourKeys<true, 4>();
}

}  // namespace
}  // namespace torus::cuda
