#include <cmath>
#include <initializer_list>
#include <type_traits>

#include "ops/batch_norm/channel_functors.h"
#include "ops/batch_norm/kernels.h"
#include "runtime/cuda/elements.h"
#include "runtime/rows.h"
//
#include "ops/batch_norm/cuda/channel_tiles.h"
#include "ops/batch_norm/cuda/norm_elements.h"
#include "runtime/cuda/arrivals.h"
#include "runtime/cuda/block.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/part_sums.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

// The gradients of a pack of channels of one row, through the activation's mask, which is computed
// from y if that is given.
template <class T, int pack>
struct MaskedGradients {
  using Sum = SumOf<T>;
  using Values = Wide<Sum, pack>;
  AffineOf<Sum> affine;
  Bounds<Sum> bounds;
  const T *x, *residual, *dy, *y;  // residual and y may be null

  // What is read of one row.
  struct Row {
    Values x, gradient, other;  // y or the residual
  };
  __device__ Row Load(int64_t at) const {
    Row row{ReadWide<pack>(x + at), ReadWide<pack>(dy + at), {}};
    const T* const other = y != nullptr ? y : residual;
    if (other != nullptr) row.other = ReadWide<pack>(other + at);
    return row;
  }
  __device__ Values operator()(const Row& row, const PackAffine<Sum, pack>& normalize) const {
    const Values before = y != nullptr          ? row.other
                          : residual != nullptr ? normalize(row.x, row.other)
                                                : normalize(row.x);
    Values masked;
    TORUS_UNROLL
    for (int k = 0; k < pack; ++k)
      masked.at[k] = bounds.Passes(before.at[k]) ? row.gradient.at[k] : Sum(0);
    return masked;
  }
};

// Calls store(channel, sums of g and of g (x - mean)) for each channel. A few rows are added in
// f32, the rest in f64: first those of each part, then all of a chunk of channels by the last of
// its blocks. Writes g if it is wanted.
template <class T, int pack, class Store>
struct GradientSumsOfChunks {
  using Sum = SumOf<T>;
  RowParts rows;
  MaskedGradients<T, pack> gradients;
  T* masked;                  // may be null
  TwoSums<double>* of_parts;  // (parts, channels)
  uint32_t* arrivals;
  Store store;

  template <int kThreads>
  __device__ void Run(int64_t block) const {
    static_assert(kThreads == kPartThreads);
    const auto mine = TileThread<pack>::Of(rows, block);
    const bool inside = mine.channel < rows.channels;
    Wide<double, 2 * pack> sums{};
    if (inside) {
      const auto normalize = PackAffine<Sum, pack>::Of(gradients.affine, mine.channel);
      for (int64_t row = mine.row; row < mine.end; row += int64_t{kTileLanes} * kTileBurst)
        sums = sums + SumsOf(row, mine, normalize);
    }
    sums = CombineColumns<kThreads, kTilePacks>(sums, Plus());
    if (threadIdx.x < kTilePacks && inside) {
      TwoSums<double>* const to = of_parts + int64_t{mine.part} * rows.channels + mine.channel;
      for (int k = 0; k < pack; ++k) to[k] = {sums.at[k], sums.at[pack + k]};
    }
    Merge<kThreads>(mine);
  }

 private:
  template <int kThreads>
  __device__ void Merge(const TileThread<pack>& mine) const {
    if (!ArrivesLast(arrivals, mine.chunk, rows.parts)) return;
    constexpr int kChunk = TileThread<pack>::kChunk;
    const int64_t channel = mine.Merged();
    const bool inside = channel < rows.channels;
    const auto sums = AddParts<kThreads, kChunk>(inside ? rows.parts : 0, [&](int64_t part) {
      return of_parts[part * rows.channels + channel];
    });
    if (threadIdx.x < kChunk && inside) store(channel, sums);
  }
  // Of kTileBurst rows.
  __device__ Wide<double, 2 * pack> SumsOf(int64_t first, const TileThread<pack>& mine,
                                           const PackAffine<Sum, pack>& normalize) const {
    typename MaskedGradients<T, pack>::Row burst[kTileBurst] = {};
    TORUS_UNROLL
    for (int r = 0; r < kTileBurst; ++r)
      if (first + r * kTileLanes < mine.end) burst[r] = gradients.Load(Place(first, r, mine));
    Wide<Sum, pack> sum{}, weighted{};
    TORUS_UNROLL
    for (int r = 0; r < kTileBurst; ++r) {
      if (first + r * kTileLanes >= mine.end) break;
      const Wide<Sum, pack> g = gradients(burst[r], normalize);
      if (masked != nullptr) WriteRounded(g, masked + Place(first, r, mine));
      TORUS_UNROLL
      for (int k = 0; k < pack; ++k) {
        sum.at[k] += g.at[k];
        weighted.at[k] = std::fma(g.at[k], burst[r].x.at[k] - normalize.mean.at[k], weighted.at[k]);
      }
    }
    Wide<double, 2 * pack> sums;
    TORUS_UNROLL
    for (int k = 0; k < pack; ++k) {
      sums.at[k] = sum.at[k];
      sums.at[pack + k] = weighted.at[k];
    }
    return sums;
  }
  __device__ int64_t Place(int64_t first, int r, const TileThread<pack>& mine) const {
    return (first + r * kTileLanes) * rows.channels + mine.channel;
  }
};

struct StoreSums {
  int64_t channels;
  double* out;  // (2, channels)
  __device__ void operator()(int64_t c, const TwoSums<double>& sums) const {
    out[c] = sums.first;
    out[channels + c] = sums.second;
  }
};

// Of channel c the gradients with respect to weight and bias, from this replica's sums, and the
// GradientLine, from those of all replicas.
template <class Sum>
struct FoldGradients {
  int64_t count;
  const Sum* scale;
  const double* inv_std;
  Sum *weight, *bias, *slope, *offset;  // may be null; the last two together

  __device__ void operator()(int64_t c, const TwoSums<double>& own,
                             const TwoSums<double>& all) const {
    if (weight != nullptr) weight[c] = static_cast<Sum>(own.second * inv_std[c]);
    if (bias != nullptr) bias[c] = static_cast<Sum>(own.first);
    if (slope == nullptr) return;
    const auto line = ops::GradientLineOf(scale[c], inv_std[c], all.first, all.second, count);
    slope[c] = line.slope;
    offset[c] = line.offset;
  }
  // Of one replica alone.
  __device__ void operator()(int64_t c, const TwoSums<double>& own) const { (*this)(c, own, own); }
};

template <class Sum>
struct FoldEachGradient {
  int64_t channels;
  const double *own, *all;  // (2, channels)
  FoldGradients<Sum> fold;
  __device__ void operator()(int64_t c) const {
    fold(c, TwoSums<double>{own[c], own[channels + c]}, TwoSums<double>{all[c], all[channels + c]});
  }
};

template <class T, int pack>
struct InputGradients {
  using Sum = SumOf<T>;
  ElementRows<pack> rows;
  int64_t apart;
  MaskedGradients<T, pack> gradients;
  const Sum *slope, *offset;  // null for constant statistics
  T* dx;

  __device__ void operator()(int64_t i) const {
    const auto place = rows.At(i);
    const auto normalize = PackAffine<Sum, pack>::Of(gradients.affine, place.channel);
    Wide<Sum, pack> along{}, constant{};
    if (slope != nullptr) {
      along = ReadWide<pack>(slope + place.channel);
      constant = ReadWide<pack>(offset + place.channel);
    }
    typename MaskedGradients<T, pack>::Row burst[kTileBurst] = {};
    TORUS_UNROLL
    for (int r = 0; r < kTileBurst; ++r)
      if (place.row + r * apart < rows.rows) burst[r] = gradients.Load(At(place, r));
    TORUS_UNROLL
    for (int r = 0; r < kTileBurst; ++r) {
      if (place.row + r * apart >= rows.rows) break;
      Wide<Sum, pack> g = gradients(burst[r], normalize);
      TORUS_UNROLL
      for (int k = 0; k < pack; ++k) {
        Sum line = Sum(0);
        if (slope != nullptr)
          line = std::fma(along.at[k], burst[r].x.at[k] - normalize.mean.at[k], constant.at[k]);
        g.at[k] = std::fma(normalize.scale.at[k], g.at[k], line);
      }
      WriteRounded(g, dx + At(place, r));
    }
  }

 private:
  __device__ int64_t At(const typename ElementRows<pack>::Place& place, int r) const {
    return (place.row + r * apart) * rows.channels + place.channel;
  }
};

// The gradients of x, for the coefficients of each channel's GradientLine; none for constant
// statistics.
template <class T>
void WriteInputGradient(const ops::NormBackwardInputs& in, const Tensor& dy, const Tensor& slope,
                        const Tensor& offset, ops::NormGradients& out, StreamHandle stream) {
  using Sum = SumOf<T>;
  const bool done = out.masked.defined();  // dy is then masked already
  const T *const x = Elements<T>(in.x), *const from = Elements<T>(done ? out.masked : dy);
  T* const dx = MutableElements<T>(out.x);
  const int64_t channels = dy.dim(-1);
  VisitPack<T>(channels, {x, from, dx}, [&]<int pack>(std::integral_constant<int, pack>) {
    const ElementRows<pack> rows{RowCount(dy), channels};
    const Bounds<Sum> bounds(done ? ops::Activation::kNone : in.activation);
    ForEach(kNormOp, rows.count(), stream,
            InputGradients<T, pack>{rows,
                                    rows.apart(),
                                    {AffineOf<Sum>(in.affine), bounds, x, nullptr, from, nullptr},
                                    ElementsOrNull<Sum>(slope),
                                    ElementsOrNull<Sum>(offset),
                                    dx});
  });
}

// Calls store(channel, sums of the masked dy and of it times (x - mean)) for each channel.
template <class T, class Store>
void StoreGradientSums(const ops::NormBackwardInputs& in, const Tensor& dy, Tensor& masked,
                       const Store& store, StreamHandle stream) {
  using Sum = SumOf<T>;
  const int64_t channels = dy.dim(-1);
  const T *const x = Elements<T>(in.x), *const residual = ElementsOrNull<T>(in.residual),
                 *const from = Elements<T>(dy), *const y = ElementsOrNull<T>(in.y);
  T* const to = MutableElementsOrNull<T>(masked);
  VisitPack<T>(
      channels, {x, residual, from, y, to}, [&]<int pack>(std::integral_constant<int, pack>) {
        const RowParts rows = RowParts::Of(RowCount(dy), channels, pack);
        Tensor room({2 * rows.parts * channels}, DType::kF64, dy.device());
        auto* const of_parts = reinterpret_cast<TwoSums<double>*>(MutableElements<double>(room));
        Tensor arrivals = ArrivalCounters(rows.chunks(pack), rows.parts, dy.device());
        ForEachBlock<kPartThreads>(
            kNormOp, rows.blocks(pack), stream,
            GradientSumsOfChunks<T, pack, Store>{
                rows,
                {AffineOf<Sum>(in.affine), Bounds<Sum>(in.activation), x, residual, from, y},
                to,
                of_parts,
                CountersIn(arrivals),
                store});
      });
}

// The coefficients of each channel's GradientLine, undefined if `out` or constant statistics need
// none.
template <class Sum>
struct Line {
  Line(const ops::NormBackwardInputs& in, int64_t channels, const ops::NormGradients& out) {
    if (!out.x.defined() || in.count == 0) return;
    slope = Tensor({channels}, kDTypeOf<Sum>, out.x.device());
    offset = Tensor({channels}, kDTypeOf<Sum>, out.x.device());
  }
  FoldGradients<Sum> Fold(const ops::NormBackwardInputs& in, ops::NormGradients& out) {
    return {in.count,
            Elements<Sum>(in.affine.scale),
            Elements<double>(in.affine.inv_std),
            MutableElementsOrNull<Sum>(out.weight),
            MutableElementsOrNull<Sum>(out.bias),
            MutableElementsOrNull<Sum>(slope),
            MutableElementsOrNull<Sum>(offset)};
  }
  Tensor slope, offset;
};

}  // namespace

void SumGradients(const ops::NormBackwardInputs& in, const Tensor& dy, Tensor& masked,
                  Tensor& sums) {
  const StreamHandle stream = CurrentStream(dy.device());
  const int64_t channels = dy.dim(-1);
  if (channels == 0) return;
  VisitFloats(kNormOp, dy.dtype(), [&]<class T>(ComputeType<T>) {
    StoreGradientSums<T>(in, dy, masked, StoreSums{channels, MutableElements<double>(sums)},
                         stream);
  });
}

void BatchNormBackward(const ops::NormBackwardInputs& in, const Tensor& dy,
                       ops::NormGradients& out) {
  const StreamHandle stream = CurrentStream(dy.device());
  const int64_t channels = dy.dim(-1);
  if (channels == 0) return;
  VisitFloats(kNormOp, dy.dtype(), [&]<class T>(ComputeType<T>) {
    Line<SumOf<T>> line(in, channels, out);
    StoreGradientSums<T>(in, dy, out.masked, line.Fold(in, out), stream);
    if (out.x.defined() && dy.numel() > 0)
      WriteInputGradient<T>(in, dy, line.slope, line.offset, out, stream);
  });
}

void NormalizeChannelsBackward(const ops::NormBackwardInputs& in, const Tensor& dy,
                               const Tensor& own_sums, const Tensor& all_sums,
                               ops::NormGradients& out) {
  const StreamHandle stream = CurrentStream(dy.device());
  const int64_t channels = dy.dim(-1);
  VisitFloats(kNormOp, dy.dtype(), [&]<class T>(ComputeType<T>) {
    using Sum = SumOf<T>;
    Line<Sum> line(in, channels, out);
    ForEach(kNormOp, channels, stream,
            FoldEachGradient<Sum>{channels, Elements<double>(own_sums), Elements<double>(all_sums),
                                  line.Fold(in, out)});
    if (out.x.defined() && dy.numel() > 0)
      WriteInputGradient<T>(in, dy, line.slope, line.offset, out, stream);
  });
}

}  // namespace torus::cuda
