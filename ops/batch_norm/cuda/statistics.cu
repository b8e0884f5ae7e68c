#include <cmath>
#include <initializer_list>
#include <type_traits>
#include <utility>

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

using ops::Moments;

// The merge of some parts' moments, as sums over the parts: of the number of rows times the mean
// less a common center, of the number times the square of that, and of m2. So nothing is divided on
// the way, and f64 has digits to spare for parts whose means lie far apart.
struct PartsSum {
  double shift = 0, square = 0, m2 = 0;

  __device__ void Add(double count, const Moments& of_part, double center) {
    const double apart = of_part.mean - center;
    shift = std::fma(count, apart, shift);
    square = std::fma(count * apart, apart, square);
    m2 += of_part.m2;
  }
  __device__ friend PartsSum operator+(const PartsSum& a, const PartsSum& b) {
    return {a.shift + b.shift, a.square + b.square, a.m2 + b.m2};
  }
};

// Calls store(channel, mean, biased variance) for each channel of x. First each part's moments are
// computed from the sums of x - center and of its square. The center is the mean of a part's first
// rows, so nothing large cancels, and rows are read once (Chan, Golub & LeVeque 1983, section 3,
// "shifted data"). A few sums are f32, the rest f64. The last block of a chunk of channels merges.
template <class T, int pack, class Store>
struct StatisticsOfChunks {
  using Sum = SumOf<T>;
  RowParts rows;
  const T* x;
  Moments* of_parts;  // (parts, channels)
  uint32_t* arrivals;
  Store store;

  template <int kThreads>
  __device__ void Run(int64_t block) const {
    static_assert(kThreads == kPartThreads);
    const auto mine = TileThread<pack>::Of(rows, block);
    const bool inside = mine.channel < rows.channels;
    Wide<Sum, pack> center{};
    Wide<double, 2 * pack> sums{};
    if (inside) {
      center = CenterOf(mine.part, mine.channel);
      for (int64_t row = mine.row; row < mine.end; row += int64_t{kTileLanes} * kTileBurst)
        sums = sums + SumsOf(row, mine, center);
    }
    sums = CombineColumns<kThreads, kTilePacks>(sums, Plus());
    if (threadIdx.x < kTilePacks && inside) Write(mine, center, sums);
    Merge<kThreads>(mine);
  }

 private:
  __device__ Wide<Sum, pack> CenterOf(int part, int channel) const {
    constexpr int kRows = 4;
    const int64_t begin = rows.begin(part), count = rows.end(part) - begin;
    Wide<Sum, pack> sum{};
    for (int r = 0; r < kRows && r < count; ++r) sum = sum + Row(begin + r, channel);
    for (int k = 0; k < pack; ++k) sum.at[k] /= static_cast<Sum>(count < kRows ? count : kRows);
    return sum;
  }
  __device__ Wide<Sum, pack> Row(int64_t row, int channel) const {
    return ReadWide<pack>(x + row * rows.channels + channel);
  }
  // Of kTileBurst rows.
  __device__ Wide<double, 2 * pack> SumsOf(int64_t row, const TileThread<pack>& mine,
                                           const Wide<Sum, pack>& center) const {
    Wide<Sum, pack> values[kTileBurst] = {};
    TORUS_UNROLL
    for (int r = 0; r < kTileBurst; ++r) {
      const int64_t at = row + r * kTileLanes;
      values[r] = at < mine.end ? Row(at, mine.channel) : center;
    }
    Wide<double, 2 * pack> sums;
    TORUS_UNROLL
    for (int k = 0; k < pack; ++k) {
      Sum sum = Sum(0), squares = Sum(0);
      TORUS_UNROLL
      for (int r = 0; r < kTileBurst; ++r) {
        const Sum d = values[r].at[k] - center.at[k];
        sum += d;
        squares += d * d;
      }
      sums.at[k] = sum;
      sums.at[pack + k] = squares;
    }
    return sums;
  }
  __device__ void Write(const TileThread<pack>& mine, const Wide<Sum, pack>& center,
                        const Wide<double, 2 * pack>& sums) const {
    const auto count = static_cast<double>(mine.end - rows.begin(mine.part));
    for (int k = 0; k < pack; ++k) {
      const double shift = sums.at[k] / count, m2 = sums.at[pack + k] - shift * sums.at[k];
      of_parts[int64_t{mine.part} * rows.channels + mine.channel + k] = {
          static_cast<double>(center.at[k]) + shift, m2 > 0 || m2 != m2 ? m2 : 0.0};
    }
  }
  template <int kThreads>
  __device__ void Merge(const TileThread<pack>& mine) const {
    if (!ArrivesLast(arrivals, mine.chunk, rows.parts)) return;
    constexpr int kChunk = TileThread<pack>::kChunk;
    constexpr int kBurst = 4;  // with more, fewer blocks would fit on a multiprocessor
    const int64_t channel = mine.Merged();
    const bool inside = channel < rows.channels;
    const double center = inside ? of_parts[channel].mean : 0;
    const PartsSum all = AddParts<kThreads, kChunk, kBurst, PartsSum>(
        inside ? rows.parts : 0,
        [&](int64_t part) { return of_parts[part * rows.channels + channel]; },
        [&](int64_t part, const Moments& moments, PartsSum& sum) {
          const auto p = static_cast<int>(part);
          sum.Add(static_cast<double>(rows.end(p) - rows.begin(p)), moments, center);
        });
    if (threadIdx.x >= kChunk || !inside) return;
    const auto count = static_cast<double>(rows.rows);
    const double shift = all.shift / count, spread = all.square - shift * all.shift;
    store(channel, center + shift,
          (all.m2 + (spread > 0 || spread != spread ? spread : 0.0)) / count);
  }
};

struct StoreStatistics {
  double *mean, *var;
  __device__ void operator()(int64_t c, double of_mean, double of_var) const {
    mean[c] = of_mean;
    var[c] = of_var;
  }
};

// Folds the statistics of channel c into the coefficients of ops::ChannelAffine.
template <class T>
struct FoldChannel {
  FoldChannel(double eps, const Tensor& weight, const Tensor& bias, ops::ChannelAffine& affine)
      : eps(eps),
        weight(ElementsOrNull<T>(weight)),
        of_bias(ElementsOrNull<T>(bias)),
        mean(MutableElements<T>(affine.mean)),
        var(MutableElements<T>(affine.var)),
        scale(MutableElements<T>(affine.scale)),
        bias(MutableElements<T>(affine.bias)),
        inv_std(MutableElements<double>(affine.inv_std)) {}
  double eps;
  const T *weight, *of_bias;  // may be null: ones and zeros
  T *mean, *var, *scale, *bias;
  double* inv_std;

  __device__ void operator()(int64_t c, double of_mean, double of_var) const {
    const double inverse = ops::InverseStd(of_var, eps);
    inv_std[c] = inverse;
    mean[c] = static_cast<T>(of_mean);
    var[c] = static_cast<T>(of_var);
    scale[c] = static_cast<T>((weight == nullptr ? 1.0 : static_cast<double>(weight[c])) * inverse);
    bias[c] = of_bias == nullptr ? T(0) : of_bias[c];
  }
};

template <class T>
struct FoldEachChannel {
  const double *mean, *var;
  FoldChannel<T> fold;
  __device__ void operator()(int64_t c) const { fold(c, mean[c], var[c]); }
};

// The running averages of one layer.
template <class T, class Batch>
struct LayerAverages {
  int64_t channels;
  double unbias, momentum;
  const Batch *mean, *var;
  T *running_mean, *running_var;
  int64_t* batches;  // may be null
  __device__ void Move(int64_t c) const {
    if (c == 0 && batches != nullptr) ++*batches;
    running_mean[c] = ops::MovedAverage(running_mean[c], momentum, mean[c], 1);
    running_var[c] = ops::MovedAverage(running_var[c], momentum, var[c], unbias);
  }
};

// Of as many layers as the arguments of a launch have room for, a block for each.
template <class T, class Batch>
struct MoveAverages {
  static constexpr int64_t kMost = 60;
  LayerAverages<T, Batch> layers[kMost];
  template <int kThreads>
  __device__ void Run(int64_t layer) const {
    const LayerAverages<T, Batch> own = layers[layer];
    for (int64_t c = threadIdx.x; c < own.channels; c += kThreads) own.Move(c);
  }
};

template <class T, class Batch>
void MoveAveragesOf(std::vector<ops::RunningUpdate>& updates, StreamHandle stream) {
  using Move = MoveAverages<T, Batch>;
  Move move{};
  int64_t layers = 0;
  const auto launch = [&] { ForEachBlock<256>(kNormOp, std::exchange(layers, 0), stream, move); };
  for (ops::RunningUpdate& u : updates) {
    if (u.running_mean.dtype() != kDTypeOf<T> || u.mean.dtype() != kDTypeOf<Batch>) continue;
    if (layers == Move::kMost) launch();
    move.layers[layers++] = {u.mean.numel(),
                             u.unbias,
                             u.momentum,
                             Elements<Batch>(u.mean),
                             Elements<Batch>(u.var),
                             MutableElements<T>(u.running_mean),
                             MutableElements<T>(u.running_var),
                             MutableElementsOrNull<int64_t>(u.batches)};
  }
  launch();
}

struct MergeChannel {
  double more, count;
  const double *more_mean, *more_var;
  double *mean, *var;
  __device__ void operator()(int64_t c) const {
    ops::MergeVariance(more_mean[c], more_var[c], more, count, mean[c], var[c]);
  }
};

// Calls store(channel, mean, biased variance) for each channel of x.
template <class Store>
void StoreStatisticsOf(const Tensor& x, const Store& store, StreamHandle stream) {
  const int64_t channels = x.dim(-1);
  if (channels == 0) return;
  VisitFloats(kNormOp, x.dtype(), [&]<class T>(ComputeType<T>) {
    const T* const from = Elements<T>(x);
    VisitPack<T>(channels, {from}, [&]<int pack>(std::integral_constant<int, pack>) {
      const RowParts rows = RowParts::Of(RowCount(x), channels, pack);
      Tensor room({2 * rows.parts * channels}, DType::kF64, x.device());
      auto* const moments = reinterpret_cast<Moments*>(MutableElements<double>(room));
      Tensor arrivals = ArrivalCounters(rows.chunks(pack), rows.parts, x.device());
      ForEachBlock<kPartThreads>(
          kNormOp, rows.blocks(pack), stream,
          StatisticsOfChunks<T, pack, Store>{rows, from, moments, CountersIn(arrivals), store});
    });
  });
}

}  // namespace

void ChannelStatistics(const Tensor& x, Tensor& mean, Tensor& var) {
  const StreamHandle stream = CurrentStream(mean.device());
  StoreStatisticsOf(x, StoreStatistics{MutableElements<double>(mean), MutableElements<double>(var)},
                    stream);
}

void FoldStatistics(const Tensor& x, double eps, const Tensor& weight, const Tensor& bias,
                    ops::ChannelAffine& affine) {
  const StreamHandle stream = CurrentStream(x.device());
  VisitCompute(kNormOp, affine.mean.dtype(), [&]<class T>(ComputeType<T>) {
    StoreStatisticsOf(x, FoldChannel<T>(eps, weight, bias, affine), stream);
  });
}

void FoldChannels(const Tensor& mean, const Tensor& var, double eps, const Tensor& weight,
                  const Tensor& bias, ops::ChannelAffine& affine) {
  const StreamHandle stream = CurrentStream(affine.mean.device());
  VisitCompute(kNormOp, affine.mean.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(kNormOp, mean.numel(), stream,
            FoldEachChannel<T>{Elements<double>(mean), Elements<double>(var),
                               FoldChannel<T>(eps, weight, bias, affine)});
  });
}

void UpdateRunningStatistics(std::vector<ops::RunningUpdate>& updates) {
  const StreamHandle stream = CurrentStream(updates.front().running_mean.device());
  for (const ops::RunningUpdate& u : updates)
    for (const Tensor* t : {&u.mean, &u.running_mean})
      VisitCompute(kNormOp, t->dtype(), [](auto) {});  // rejects other dtypes
  MoveAveragesOf<float, float>(updates, stream);
  MoveAveragesOf<float, double>(updates, stream);
  MoveAveragesOf<double, float>(updates, stream);
  MoveAveragesOf<double, double>(updates, stream);
}

void MergeStatistics(const Tensor& more_mean, const Tensor& more_var, int64_t more, Tensor& mean,
                     Tensor& var, int64_t count) {
  const StreamHandle stream = CurrentStream(mean.device());
  ForEach(kNormOp, mean.numel(), stream,
          MergeChannel{static_cast<double>(more), static_cast<double>(count),
                       Elements<double>(more_mean), Elements<double>(more_var),
                       MutableElements<double>(mean), MutableElements<double>(var)});
}

}  // namespace torus::cuda
