// Matrix products on a GPU whose elements are loaded by functors. A convolution is such a product,
// of pixels and filters, and so are its gradients ("implicit GEMM": Chetlur et al. 2014, "cuDNN",
// section 3). For kernel sources only.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/cuda/divide.h"
//
#include "runtime/cuda/rows.h"

namespace torus::cuda {

inline constexpr int kProductTile = 64;   // rows and columns that one block computes
inline constexpr int kProductDepth = 16;  // terms of the sums loaded at a time
inline constexpr int kProductThreads = 256;
inline constexpr int kProductEach = 4;  // 4 x 4 results per thread

// Sizes of one product. There are `groups` independent products; each one's depth is cut into
// `parts` parts of `part` terms.
struct ProductShape {
  int64_t rows, columns, depth, groups;
  int64_t parts = 1, part = 0;
  __host__ __device__ int64_t row_tiles() const { return (rows + kProductTile - 1) / kProductTile; }
  __host__ __device__ int64_t column_tiles() const {
    return (columns + kProductTile - 1) / kProductTile;
  }
};

// An operand has lines (the rows or columns of the product) of `depth` terms. What all terms of a
// line share, and what a term shares over all lines, is computed once:
//   Line LineAt(group, line), Term TermAt(group, depth), T Load(Line, Term)
// kAlongDepth says whether neighbouring terms are adjacent in memory, or else neighbouring lines;
// neighbouring threads load those.
template <class T, class Operand>
class TileLoader {
 public:
  using Tile = T[kProductDepth][kProductTile + 1];

  // Loads lines of a group from `first_line` on; there are `lines` lines in all.
  __device__ TileLoader(const Operand& operand, int64_t group, int64_t first_line, int64_t lines)
      : operand_(operand),
        group_(group),
        fast_(static_cast<int>(threadIdx.x) % kAcross),
        slow_(static_cast<int>(threadIdx.x) / kAcross) {
    for (int i = 0; i < kLines; ++i) {
      const int64_t line = first_line + (kAlong ? slow_ + i * kStep : fast_);
      inside_[i] = line < lines;
      lines_[i] = operand_.LineAt(group_, inside_[i] ? line : first_line);
    }
  }

  // tile[t][l] = term first_term + t of line l; 0 beyond the last term or line.
  __device__ void Load(int64_t first_term, int64_t terms, Tile& tile) const {
    if constexpr (kAlong) {
      const bool there = first_term + fast_ < terms;
      const auto term = operand_.TermAt(group_, there ? first_term + fast_ : first_term);
      for (int i = 0; i < kEach; ++i)
        tile[fast_][slow_ + i * kStep] =
            there && inside_[i] ? operand_.Load(lines_[i], term) : T(0);
    } else {
      for (int i = 0; i < kEach; ++i) {
        const int at = slow_ + i * kStep;
        const bool there = inside_[0] && first_term + at < terms;
        tile[at][fast_] =
            there ? operand_.Load(lines_[0], operand_.TermAt(group_, first_term + at)) : T(0);
      }
    }
  }

 private:
  static constexpr bool kAlong = Operand::kAlongDepth;
  static constexpr int kAcross = kAlong ? kProductDepth : kProductTile;
  static constexpr int kStep = kProductThreads / kAcross;
  static constexpr int kEach =
      kProductTile * kProductDepth / kProductThreads;  // elements per thread
  static constexpr int kLines = kAlong ? kEach : 1;
  using Line = decltype(std::declval<const Operand&>().LineAt(0, 0));

  const Operand& operand_;
  int64_t group_;
  int fast_, slow_;
  Line lines_[kLines];
  bool inside_[kLines];
};

// Calls store(part, group, row, column, sum) for every sum of a(row, term) b(column, term) over the
// terms of a part, added in the order of the terms.
template <class T, class A, class B, class Store>
struct TileProduct {
  ProductShape shape;
  A a;
  B b;
  Store store;

  template <int kThreads>
  __device__ void Run(int64_t task) const {
    static_assert(kThreads == kProductThreads);
    __shared__ T
        a_tile[kProductDepth][kProductTile + 1];  // one column more, against bank conflicts
    __shared__ T b_tile[kProductDepth][kProductTile + 1];
    const int64_t column_tile = task % shape.column_tiles();
    const int64_t row_tile = task / shape.column_tiles() % shape.row_tiles();
    const int64_t slice = task / shape.column_tiles() / shape.row_tiles();
    const int64_t group = slice % shape.groups, part = slice / shape.groups;
    const int64_t begin = part * shape.part;
    const int64_t end = begin + shape.part < shape.depth ? begin + shape.part : shape.depth;
    const int across = static_cast<int>(threadIdx.x) % (kProductTile / kProductEach);
    const int down = static_cast<int>(threadIdx.x) / (kProductTile / kProductEach);
    const TileLoader<T, A> a_loader(a, group, row_tile * kProductTile, shape.rows);
    const TileLoader<T, B> b_loader(b, group, column_tile * kProductTile, shape.columns);
    T sums[kProductEach][kProductEach] = {};
    for (int64_t term = begin; term < end; term += kProductDepth) {
      a_loader.Load(term, end, a_tile);
      b_loader.Load(term, end, b_tile);
      __syncthreads();
      AddTerms(a_tile, b_tile, down, across, sums);
      __syncthreads();
    }
    for (int i = 0; i < kProductEach; ++i) {
      for (int j = 0; j < kProductEach; ++j) {
        const int64_t row = row_tile * kProductTile + down + i * (kProductTile / kProductEach);
        const int64_t column =
            column_tile * kProductTile + across + j * (kProductTile / kProductEach);
        if (row < shape.rows && column < shape.columns) store(part, group, row, column, sums[i][j]);
      }
    }
  }

 private:
  // A thread's results are 16 apart, so that a warp reads neighbouring columns.
  __device__ static void AddTerms(const T (&a_tile)[kProductDepth][kProductTile + 1],
                                  const T (&b_tile)[kProductDepth][kProductTile + 1], int down,
                                  int across, T (&sums)[kProductEach][kProductEach]) {
    for (int k = 0; k < kProductDepth; ++k) {
      T rows[kProductEach], columns[kProductEach];
      for (int i = 0; i < kProductEach; ++i) {
        rows[i] = a_tile[k][down + i * (kProductTile / kProductEach)];
        columns[i] = b_tile[k][across + i * (kProductTile / kProductEach)];
      }
      for (int i = 0; i < kProductEach; ++i)
        for (int j = 0; j < kProductEach; ++j) sums[i][j] += rows[i] * columns[j];
    }
  }
};

template <class T, class A, class B, class Store>
void RunTileProduct(std::string_view op, const ProductShape& shape, const A& a, const B& b,
                    const Store& store, StreamHandle stream) {
  using Body = TileProduct<T, A, B, Store>;
  const int64_t tasks = shape.row_tiles() * shape.column_tiles() * shape.groups * shape.parts;
  ForEachBlock<kProductThreads>(op, tasks, stream, Body{shape, a, b, store});
}

}  // namespace torus::cuda
