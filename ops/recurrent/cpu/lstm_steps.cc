#include <algorithm>

#include "ops/cpu/gemm.h"
#include "ops/recurrent/cpu/lstm_tiles.h"
#include "ops/recurrent/kernels.h"
#include "ops/recurrent/lstm_order.h"
#include "runtime/parallel_for.h"
#include "runtime/team_size_guard.h"

namespace torus::cpu {
namespace {

using ops::LstmPlaceInTime;
using ops::LstmPlaceOf;

int64_t Blocks(int64_t hidden, int64_t units) { return (hidden + units - 1) / units; }

// Runs body(block) for all blocks of `elements` weights.
template <class Body>
void ForBlocks(int64_t blocks, int64_t elements, const Body& body) {
  ParallelFor(blocks, (1 << 14) / elements + 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) body(block);
  });
}

// Columns [first, end) of `units` units' gates; lanes are those of LstmStep::weights.
void PackColumns(const float* weight, int64_t hidden, int64_t units, int64_t first, int64_t end,
                 int64_t lanes, float* packed) {
  for (int64_t gate = 0; gate < 4; ++gate)
    for (int64_t u = 0; u < units; ++u)
      for (int64_t k = first; k < end; ++k)
        packed[(4 * k + gate) * lanes + u] = weight[(gate * hidden + u) * hidden + k];
}

// The weights of LstmStep. 16 columns at a time: what is read and written by turns stays in cache.
Tensor Packed(const Tensor& weight, int64_t lanes) {
  const int64_t hidden = weight.dim(1), blocks = Blocks(hidden, lanes);
  Tensor packed = Zeros({blocks, hidden, 4, lanes});
  const float* from = weight.data<float>();
  float* to = packed.mutable_data<float>();
  ForBlocks(blocks, 4 * lanes * hidden, [&](int64_t block) {
    const int64_t unit = block * lanes;
    for (int64_t k = 0; k < hidden; k += 16)
      PackColumns(from + unit * hidden, hidden, std::min(lanes, hidden - unit), k,
                  std::min(k + 16, hidden), lanes, to + 4 * unit * hidden);
  });
  return packed;
}

// Those of LstmStepBackward, with blocks of so many units.
Tensor PackedBackward(const Tensor& weight, int64_t units) {
  const int64_t hidden = weight.dim(1), blocks = Blocks(hidden, units);
  Tensor packed = Zeros({blocks, 4 * hidden, units});
  const float* from = weight.data<float>();
  float* to = packed.mutable_data<float>();
  ForBlocks(blocks, 4 * hidden * units, [&](int64_t block) {
    const int64_t unit = block * units;
    for (int64_t row = 0; row < 4 * hidden; ++row)
      std::copy_n(from + row * hidden + unit, std::min(units, hidden - unit),
                  to + (4 * hidden * block + row) * units);
  });
  return packed;
}

// Runs tiles(begin, end) for all tiles of `rows` rows and `units` units, of `k` products an element.
template <class Tiles>
void ForTiles(int64_t rows, int64_t hidden, int64_t units, int64_t k, const Tiles& tiles) {
  const LstmTile tile = LstmTileSize();
  const int64_t grain = (1 << 17) / (tile.rows * 4 * tile.lanes * k) + 1;
  ParallelFor(LstmTileCount(rows, hidden, units), grain, tiles);
}

// out (m, n) = op(a) b, with sums of k terms. Each block of rows has one thread, so teams share no
// sum and change no bits. 128 terms at a time: the rows of long matrices have more pages than the
// processor remembers.
void MultiplyInBlocks(Transpose transpose, int64_t m, int64_t n, int64_t k, const float* a,
                      int64_t lda, const float* b, float* out) {
  constexpr int64_t kBlock = 256, kSlice = 128;
  const bool transposed = transpose == Transpose::kYes;
  if (k == 0) std::fill_n(out, m * n, 0.0f);
  ParallelFor((m + kBlock - 1) / kBlock, 1, [&](int64_t begin, int64_t end) {
    const TeamSizeGuard alone(1);
    for (int64_t row = begin * kBlock; row < std::min(m, end * kBlock); row += kBlock)
      for (int64_t i = 0; i < k; i += kSlice)
        Gemm(transpose, Transpose::kNo, std::min(kBlock, m - row), n, std::min(kSlice, k - i), 1.0f,
             a + (transposed ? i * lda + row : row * lda + i), lda, b + i * n, n,
             i == 0 ? 0.0f : 1.0f, out + row * n, n);
  });
}

const float* Entry(const Tensor& t, int64_t i) { return t.Select(0, i).data<float>(); }
float* MutableEntry(const Tensor& t, int64_t i) { return t.Select(0, i).mutable_data<float>(); }

}  // namespace

void LstmSteps(const Tensor& x, const Tensor& weight, bool reverse, Tensor& h, Tensor& c,
               Tensor& gates) {
  const int64_t steps = x.dim(0), rows = x.dim(1), hidden = weight.dim(1);
  if (rows == 0 || hidden == 0) return;
  const int64_t units = LstmTileSize().lanes;
  const Tensor packed = Packed(weight, units);
  for (int64_t i = 0; i < steps; ++i) {
    const LstmPlaceInTime at = LstmPlaceOf(i, steps, reverse);
    const LstmStep step{.rows = rows,
                        .hidden = hidden,
                        .x = Entry(x, at.time),
                        .h = Entry(h, at.before),
                        .c = Entry(c, at.before),
                        .weights = packed.data<float>(),
                        .gates = MutableEntry(gates, at.time),
                        .next_h = MutableEntry(h, at.after),
                        .next_c = MutableEntry(c, at.after)};
    ForTiles(rows, hidden, units, hidden,
             [&](int64_t begin, int64_t end) { LstmTiles(step, begin, end); });
  }
}

void LstmStepsBackward(const Tensor& gates, const Tensor& weight, const Tensor& c, const Tensor& dh,
                       bool reverse, Tensor& dx, Tensor& dc) {
  const int64_t steps = dx.dim(0), rows = dx.dim(1), hidden = weight.dim(1);
  if (rows == 0 || hidden == 0) return;
  const int64_t units = 4 * LstmTileSize().lanes;
  const Tensor packed = PackedBackward(weight, units);
  const float* dx_of_next = nullptr;
  for (int64_t i = steps - 1; i >= 0; --i) {
    const LstmPlaceInTime at = LstmPlaceOf(i, steps, reverse);
    const LstmStepBackward step{.rows = rows,
                                .hidden = hidden,
                                .gates = Entry(gates, at.time),
                                .c = Entry(c, at.before),
                                .next_c = Entry(c, at.after),
                                .dh = Entry(dh, at.time),
                                .dx_of_next = dx_of_next,
                                .weights = packed.data<float>(),
                                .dx = MutableEntry(dx, at.time),
                                .dc = dc.mutable_data<float>()};
    ForTiles(rows, hidden, units, 4 * hidden,
             [&](int64_t begin, int64_t end) { LstmTilesBackward(step, begin, end); });
    dx_of_next = step.dx;
  }
}

void LstmWeightGradient(const Tensor& dx, const Tensor& h, Tensor& dweight) {
  const int64_t rows = dx.dim(0) * dx.dim(1), hidden = h.dim(2);
  MultiplyInBlocks(Transpose::kYes, 4 * hidden, hidden, rows, dx.data<float>(), 4 * hidden,
                   h.data<float>(), dweight.mutable_data<float>());
}

void LstmStateGradient(const Tensor& dx, const Tensor& weight, Tensor& dh) {
  const int64_t hidden = weight.dim(1);
  MultiplyInBlocks(Transpose::kNo, dx.dim(0), hidden, 4 * hidden, dx.data<float>(), 4 * hidden,
                   weight.data<float>(), dh.mutable_data<float>());
}

}  // namespace torus::cpu
