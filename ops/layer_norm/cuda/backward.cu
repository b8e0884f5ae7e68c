#include <algorithm>
#include <cmath>

#include "ops/layer_norm/cuda/visit_types.h"
#include "ops/layer_norm/kernels.h"
#include "runtime/cuda/elements.h"
#include "runtime/host_device.h"
//
#include "runtime/cuda/arrivals.h"
#include "runtime/cuda/block.h"
#include "runtime/cuda/column_sums.h"
#include "runtime/cuda/part_sums.h"
#include "runtime/cuda/row_packs.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

// With x^ = (x - mean) rstd and g = dy weight: dx = rstd (g - mean(g) - x^ mean(g x^)).
template <class Sum>
struct RowGradient {
  Sum middle, scale, offset, slope;

  template <class Values>
  __device__ Values Normal(const Values& x) const {
    Values normal;
    TORUS_UNROLL
    for (size_t k = 0; k < std::size(x.at); ++k) normal.at[k] = (x.at[k] - middle) * scale;
    return normal;
  }
  template <class Values>
  __device__ Values Of(const Values& normal, const Values& dy, const Values& weight) const {
    Values dx;
    TORUS_UNROLL
    for (size_t k = 0; k < std::size(dx.at); ++k)
      dx.at[k] = scale * std::fma(-normal.at[k], slope, std::fma(dy.at[k], weight.at[k], -offset));
    return dx;
  }
};

// Adds g and g x^ of an element.
template <class Sum>
__device__ void AddTerms(Sum dy, Sum weight, Sum normal, TwoSums<Sum>& sums) {
  sums.first = std::fma(dy, weight, sums.first);
  sums.second = std::fma(dy * weight, normal, sums.second);
}

// What the backward reads.
template <class In, class Out>
struct BackwardInputs {
  using Sum = SumOf<In>;

  int n;
  bool aligned;
  const Out* dy;
  const In* x;
  const Sum *mean, *rstd, *weight;
  bool centered;  // else the mean is 0 and not looked at, and so is that of g

  // Read in any case: a load that waits for no branch is one wait less.
  __device__ Sum MeanOf(int64_t row) const {
    const Sum read = mean[row];
    return centered ? read : Sum(0);
  }
  __device__ Sum OffsetOf(Sum sum_of_g) const {
    return centered ? sum_of_g / static_cast<Sum>(n) : Sum(0);
  }
};

// Where dx goes, with what is added to it when it is rounded.
template <class In>
struct RowGradients {
  In* dx;           // may be null
  const In* added;  // may be null

  template <class Packs, class Values>
  __device__ void Put(const Packs& packs, const Values& values, int64_t row, int first) const {
    const int64_t at = row * packs.n;
    packs.Write(added == nullptr ? values : SumOfRounded<In>(values, packs.Read(added + at, first)),
                dx + at, first);
  }
};

// Where the sums over rows of dy x^ and of dy go, which lie behind each other; null: nowhere.
template <class Sum>
struct StoreParameters {
  int n;
  Sum *dweight, *dbias;

  // Columns of which none but the first begins either.
  template <int pack>
  __device__ void operator()(int first, const Wide<Sum, pack>& sums) const {
    Sum* const to = first < n ? dweight : dbias;
    if (to == nullptr) return;
    TORUS_UNROLL
    for (int k = 0; k < pack; ++k) to[(first < n ? first : first - n) + k] = sums.at[k];
  }
};

// The parts of the backward's sums over rows, and who adds them: groups of neighbouring parts their
// own, and then one block those sums, which lie behind the parts. Otherwise one block would add
// hundreds of parts while the others idle.
struct BackwardParts {
  int parts, of_group;

  static BackwardParts Of(int64_t parts) {
    const auto root = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(parts))));
    return {static_cast<int>(parts), parts <= 16 ? static_cast<int>(parts) : root};
  }
  TORUS_HOST_DEVICE int groups() const { return (parts - 1) / of_group + 1; }
  TORUS_HOST_DEVICE int CountOf(int group) const {
    return group + 1 < groups() ? of_group : parts - group * of_group;
  }
};

// Rows part, part + parts, ... of the backward: dx, and this part's share of the sums over rows
// that are the gradients of weight and bias, in `sums`, (parts + groups, 2, n). A thread has all
// elements of its columns in registers, so a row must have no more than kHeld packs a thread.
template <class In, class Out>
struct BackwardPart {
  using Sum = SumOf<In>;
  static constexpr int kHeld = 2;

  BackwardInputs<In, Out> in;
  int64_t rows;
  BackwardParts by;
  RowGradients<In> to;
  StoreParameters<Sum> store;
  Sum* sums;
  uint32_t* arrivals;  // of the groups, and of who adds their sums

  template <int kThreads>
  __device__ void Run(int64_t part) const {
    using Packs = RowPacks<kThreads, Sum>;
    using Values = typename Packs::Values;
    const Packs packs{in.n, in.aligned};
    const int parts = by.parts;
    Values weight[kHeld], of_weight[kHeld] = {}, of_bias[kHeld] = {};
    Values x[kHeld], dy[kHeld], next_x[kHeld], next_dy[kHeld];
    packs.Hold(in.weight, weight);
    packs.Hold(in.x + part * in.n, next_x);
    packs.Hold(in.dy + part * in.n, next_dy);
    for (int64_t row = part; row < rows; row += parts) {
      TORUS_UNROLL
      for (int p = 0; p < kHeld; ++p) x[p] = next_x[p], dy[p] = next_dy[p];
      if (row + parts < rows) {  // loaded while this row is summed
        packs.Hold(in.x + (row + parts) * in.n, next_x);
        packs.Hold(in.dy + (row + parts) * in.n, next_dy);
      }
      RowGradient<Sum> gradient{in.MeanOf(row), in.rstd[row], Sum(0), Sum(0)};
      TwoSums<Sum> of_row{Sum(0), Sum(0)};
      packs.template EachHeld<kHeld>([&](int p, int) {
        x[p] = gradient.Normal(x[p]);
        TORUS_UNROLL
        for (int k = 0; k < Packs::kPack; ++k) {
          AddTerms(dy[p].at[k], weight[p].at[k], x[p].at[k], of_row);
          of_weight[p].at[k] = std::fma(dy[p].at[k], x[p].at[k], of_weight[p].at[k]);
          of_bias[p].at[k] += dy[p].at[k];
        }
      });
      if (to.dx == nullptr) continue;
      of_row = CombineBlock<kThreads>(of_row, Plus());
      gradient.offset = in.OffsetOf(of_row.first);
      gradient.slope = of_row.second / static_cast<Sum>(in.n);
      packs.template EachHeld<kHeld>([&](int p, int first) {
        to.Put(packs, gradient.Of(x[p], dy[p], weight[p]), row, first);
      });
    }
    Sum* const own = sums + part * 2 * in.n;
    packs.template EachHeld<kHeld>([&](int p, int first) {
      packs.Write(of_weight[p], own, first);
      packs.Write(of_bias[p], own + in.n, first);
    });
    in.aligned ? Merge<kThreads, Packs::kPack>(static_cast<int>(part))
               : Merge<kThreads, 1>(static_cast<int>(part));
  }

 private:
  template <int kThreads, int pack>
  __device__ void Merge(int part) const {
    const int group = part / by.of_group, columns = 2 * in.n;
    if (!ArrivesLast(arrivals, group, by.CountOf(group))) return;
    Sum* const of_groups = sums + int64_t{by.parts} * columns;
    Sum* const own = of_groups + int64_t{group} * columns;
    AddWholeParts<kThreads, pack>(
        by.CountOf(group), columns, sums + int64_t{group} * by.of_group * columns,
        [&](int first, const Wide<Sum, pack>& sum) { WriteRounded(sum, own + first); });
    if (!ArrivesLast(arrivals, by.groups(), by.groups())) return;
    AddWholeParts<kThreads, pack>(by.groups(), columns, of_groups, store);
  }
};

// dx alone, of rows of any length.
template <class In, class Out>
struct BackwardRow {
  using Sum = SumOf<In>;

  BackwardInputs<In, Out> in;
  RowGradients<In> to;

  template <int kThreads>
  __device__ void Run(int64_t row) const {
    using Packs = RowPacks<kThreads, Sum>;
    using Values = typename Packs::Values;
    const Packs packs{in.n, in.aligned};
    const In* const x = in.x + row * in.n;
    const Out* const dy = in.dy + row * in.n;
    RowGradient<Sum> gradient{in.MeanOf(row), in.rstd[row], Sum(0), Sum(0)};
    TwoSums<Sum> of_row{Sum(0), Sum(0)};
    for (int p = 0; packs.First(p) < in.n; ++p) {
      const Values normal = gradient.Normal(packs.Read(x, packs.First(p)));
      const Values up = packs.Read(dy, packs.First(p)), w = packs.Read(in.weight, packs.First(p));
      TORUS_UNROLL
      for (int k = 0; k < Packs::kPack; ++k) AddTerms(up.at[k], w.at[k], normal.at[k], of_row);
    }
    of_row = CombineBlock<kThreads>(of_row, Plus());
    gradient.offset = in.OffsetOf(of_row.first);
    gradient.slope = of_row.second / static_cast<Sum>(in.n);
    for (int p = 0; packs.First(p) < in.n; ++p) {
      const int first = packs.First(p);
      to.Put(packs,
             gradient.Of(gradient.Normal(packs.Read(x, first)), packs.Read(dy, first),
                         packs.Read(in.weight, first)),
             row, first);
    }
  }
};

// dy x^
template <class In, class Out>
struct WeightTerm {
  using Sum = SumOf<In>;
  BackwardInputs<In, Out> in;
  __device__ Sum operator()(int64_t at, int64_t row) const {
    const Sum x = ElementCast<Sum, In>()(in.x[at]);
    return ElementCast<Sum, Out>()(in.dy[at]) * ((x - in.MeanOf(row)) * in.rstd[row]);
  }
};

template <int kThreads, class In, class Out>
void BackwardByParts(const BackwardInputs<In, Out>& in, int64_t rows, const RowGradients<In>& to,
                     const StoreParameters<SumOf<In>>& store, Device device, StreamHandle stream) {
  // Enough for a large GPU, and each of some rows.
  constexpr int64_t kMostParts = 4 * 132 * 128 / kThreads, kLeastRows = 8;
  const auto by = BackwardParts::Of(std::clamp<int64_t>(rows / kLeastRows, 1, kMostParts));
  Tensor sums({by.parts + by.groups(), 2 * in.n}, kDTypeOf<SumOf<In>>, device);
  Tensor arrivals = ArrivalCounters(by.groups() + 1, by.parts, device);
  ForEachBlock<kThreads>(
      kLayerNormOp, by.parts, stream,
      BackwardPart<In, Out>{in, rows, by, to, store, MutableElements<SumOf<In>>(sums),
                            CountersIn(arrivals)});
}

template <class In, class Out>
void BackwardOfAnyLength(const BackwardInputs<In, Out>& in, int64_t rows,
                         const RowGradients<In>& to, const StoreParameters<SumOf<In>>& store,
                         Device device, StreamHandle stream) {
  using Sum = SumOf<In>;
  if (to.dx != nullptr) ForEachRow(kLayerNormOp, rows, in.n, stream, BackwardRow<In, Out>{in, to});
  if (store.dweight != nullptr)
    SumColumns(kLayerNormOp, 1, rows, in.n, WeightTerm<In, Out>{in}, 1, store.dweight, device,
               stream);
  if (store.dbias != nullptr)
    SumColumns(kLayerNormOp, 1, rows, in.n, LoadWide<Sum, Out>{in.dy}, 1, store.dbias, device,
               stream);
}

template <class In, class Out>
void Backward(const BackwardInputs<In, Out>& in, int64_t rows, const RowGradients<In>& to,
              const StoreParameters<SumOf<In>>& store, Device device, StreamHandle stream) {
  constexpr int kPerThread = BackwardPart<In, Out>::kHeld * RowPacks<32, SumOf<In>>::kPack;
  const bool sums = store.dweight != nullptr || store.dbias != nullptr;
  if (!sums || rows == 0 || in.n > 512 * kPerThread)
    BackwardOfAnyLength(in, rows, to, store, device, stream);
  else if (in.n <= 32 * kPerThread)
    BackwardByParts<32>(in, rows, to, store, device, stream);
  else if (in.n <= 128 * kPerThread)
    BackwardByParts<128>(in, rows, to, store, device, stream);
  else
    BackwardByParts<512>(in, rows, to, store, device, stream);
}

}  // namespace

void LayerNormBackward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                       const Tensor& weight, const Tensor& added, Tensor& dx, Tensor& dweight,
                       Tensor& dbias) {
  const StreamHandle stream = CurrentStream(dy.device());
  VisitLayerNormTypes(x, dy, [&]<class In, class Out>() {
    using Sum = SumOf<In>;
    const RowGradients<In> to{MutableElementsOrNull<In>(dx), ElementsOrNull<In>(added)};
    const int n = static_cast<int>(weight.numel());
    const bool aligned = RowsByPacks<Sum>(n, {x.raw(), dy.raw(), weight.raw(), to.dx, to.added});
    Backward(BackwardInputs<In, Out>{n, aligned, Elements<Out>(dy), Elements<In>(x),
                                     Elements<Sum>(mean.defined() ? mean : rstd),
                                     Elements<Sum>(rstd), Elements<Sum>(weight), mean.defined()},
             rstd.numel(), to,
             StoreParameters<Sum>{n, MutableElementsOrNull<Sum>(dweight),
                                  MutableElementsOrNull<Sum>(dbias)},
             x.device(), stream);
  });
}

}  // namespace torus::cuda
