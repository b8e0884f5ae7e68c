// The kernels, once for every vector width.
#include "ops/recurrent/cpu/lstm_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/recurrent/cpu/lstm_tiles.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <algorithm>

#include "hwy/highway.h"
#include "ops/recurrent/cpu/lstm_cell-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

using D = hn::ScalableTag<float>;

constexpr int kVectors = 4;
constexpr int64_t kMostLanes = hn::MaxLanes(D());
// Sums of so many rows and the four vectors of the weights fit 32 registers of 64 bytes, or 16 of
// 32 bytes.
constexpr int kRows = kMostLanes >= 16 ? 6 : 3;
// So many rows of a tile's weights stay in the first cache while all rows of the tile take them.
constexpr int64_t kDepth = 96;
constexpr int64_t kTileRows = 4 * kRows;

LstmTile TileSize() { return {kTileRows, static_cast<int64_t>(hn::Lanes(D()))}; }

// sums (rows, four vectors) += a (rows, k), with that row stride, times w (k, four vectors).
template <int rows>
void MultiplyLstmRows(const float* a, int64_t stride, int64_t k, const float* w, float* sums) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> sum[rows][kVectors];
#pragma GCC unroll 6
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::LoadU(d, sums + (r * kVectors + v) * lanes);
  for (int64_t i = 0; i < k; ++i, w += kVectors * lanes) {
    hn::Vec<D> right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, w + v * lanes);
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r) {
      const auto left = hn::Set(d, a[r * stride + i]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, sums + (r * kVectors + v) * lanes);
}

// The same for `count` rows, 1 to kRows.
template <int rows = kRows>
void MultiplyUpTo(int64_t count, const float* a, int64_t stride, int64_t k, const float* w,
                  float* sums) {
  if constexpr (rows > 1) {
    if (count < rows) return MultiplyUpTo<rows - 1>(count, a, stride, k, w, sums);
  }
  MultiplyLstmRows<rows>(a, stride, k, w, sums);
}

// sums (count, four vectors) = a (count, k) times w (k, four vectors). Each sum runs over k in
// order, whatever the rows beside it.
void MultiplyTile(int64_t count, const float* a, int64_t k, const float* w, float* sums) {
  const int64_t width = kVectors * static_cast<int64_t>(hn::Lanes(D()));
  std::fill_n(sums, count * width, 0.0f);
  for (int64_t i = 0; i < k; i += kDepth)
    for (int64_t row = 0; row < count; row += kRows)
      MultiplyUpTo(std::min<int64_t>(kRows, count - row), a + row * k + i, k,
                   std::min(kDepth, k - i), w + i * width, sums + row * width);
}

// Calls body(part) for the vector that begins `left` elements before the end of its row.
template <class Body>
HWY_INLINE void OfVector(int64_t left, const Body& body) {
  if (left >= static_cast<int64_t>(hn::Lanes(D())))
    body(WholeVector());
  else
    body(PartVector{left});
}

// Rows [begin, end) of one tile, which has the units of `block`.
struct Place {
  int64_t block, begin, end;
};

// Tiles of the same units differ by at most one row.
Place PlaceOf(int64_t tile, int64_t rows) {
  const int64_t tiles = (rows + kTileRows - 1) / kTileRows, at = tile % tiles;
  return {tile / tiles, rows * at / tiles, rows * (at + 1) / tiles};
}

void Tile(const LstmStep& s, const Place& place) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN float sums[kTileRows * kVectors * kMostLanes];
  MultiplyTile(place.end - place.begin, s.h + place.begin * s.hidden, s.hidden,
               s.weights + place.block * s.hidden * kVectors * lanes, sums);
  const int64_t unit = place.block * lanes;
  OfVector(s.hidden - unit, [&](auto part) HWY_ATTR {
    for (int64_t row = place.begin; row < place.end; ++row) {
      const int64_t e = row * s.hidden + unit, at = 4 * row * s.hidden + unit;
      const float* own = sums + (row - place.begin) * kVectors * lanes;
      const auto of =
          AddGates(LoadGates(d, part, s.x + at, s.hidden), LoadGates(d, WholeVector(), own, lanes));
      CellForward(d, part, of, s.c + e, s.hidden, s.gates + at, s.next_h + e, s.next_c + e);
    }
  });
}

// The cells of a tile, of which `sums` are what the next step adds to dh; null: nothing.
void CellsBackward(const LstmStepBackward& s, const Place& place, const float* sums) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t row = place.begin; row < place.end; ++row)
    for (int64_t v = 0; v < kVectors; ++v) {
      const int64_t unit = (place.block * kVectors + v) * lanes;
      if (unit >= s.hidden) break;
      OfVector(s.hidden - unit, [&](auto part) HWY_ATTR {
        const int64_t e = row * s.hidden + unit, at = 4 * row * s.hidden + unit;
        auto dh = part.Load(d, s.dh + e);
        if (sums != nullptr)
          dh = hn::Add(dh, hn::LoadU(d, sums + ((row - place.begin) * kVectors + v) * lanes));
        CellBackward(d, part, s.gates + at, s.c + e, s.next_c + e, dh, part.Load(d, s.dc + e),
                     s.hidden, s.dx + at, s.dc + e);
      });
    }
}

void TileBackward(const LstmStepBackward& s, const Place& place) {
  if (s.dx_of_next == nullptr) return CellsBackward(s, place, nullptr);
  HWY_ALIGN float sums[kTileRows * kVectors * kMostLanes];
  const int64_t k = 4 * s.hidden, lanes = TileSize().lanes;
  MultiplyTile(place.end - place.begin, s.dx_of_next + place.begin * k, k,
               s.weights + place.block * k * kVectors * lanes, sums);
  CellsBackward(s, place, sums);
}

void Tiles(const LstmStep& step, int64_t begin, int64_t end) {
  for (int64_t tile = begin; tile < end; ++tile) Tile(step, PlaceOf(tile, step.rows));
}

void TilesBackward(const LstmStepBackward& step, int64_t begin, int64_t end) {
  for (int64_t tile = begin; tile < end; ++tile) TileBackward(step, PlaceOf(tile, step.rows));
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

HWY_EXPORT(TileSize);
HWY_EXPORT(Tiles);
HWY_EXPORT(TilesBackward);

LstmTile LstmTileSize() { return HWY_DYNAMIC_DISPATCH(TileSize)(); }

int64_t LstmTileCount(int64_t rows, int64_t hidden, int64_t units) {
  const int64_t most = LstmTileSize().rows;
  return (rows + most - 1) / most * ((hidden + units - 1) / units);
}

void LstmTiles(const LstmStep& step, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(Tiles)(step, begin, end);
}

void LstmTilesBackward(const LstmStepBackward& step, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(TilesBackward)(step, begin, end);
}

}  // namespace torus::cpu
#endif  // HWY_ONCE
