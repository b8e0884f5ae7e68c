#include <algorithm>
#include <cmath>

#include "ops/layer_norm/cuda/visit_types.h"
#include "ops/layer_norm/kernels.h"
#include "runtime/cuda/elements.h"
#include "runtime/host_device.h"
//
#include "runtime/cuda/block.h"
#include "runtime/cuda/row_packs.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

// Rows part, part + parts, ... of the forward.
template <class In, class Out>
struct NormalizeRows {
  using Sum = SumOf<In>;
  static constexpr int kHeld = 8;  // packs; a thread reads the others of a long row again

  int n;
  bool aligned;
  int64_t rows, parts;
  double eps;
  const In* x;
  const Sum *weight, *bias;
  Out* y;
  Sum *mean, *rstd;  // no mean: it is 0

  // A warp has whole rows in registers, and weight and bias for all its rows.
  template <int kThreads>
  __device__ void Run(int64_t part) const {
    using Packs = RowPacks<kThreads, Sum>;
    using Values = typename Packs::Values;
    const Packs packs{n, aligned};
    Values weights[kHeld], biases[kHeld];
    if constexpr (kThreads == 32) {
      packs.Hold(weight, weights);
      packs.Hold(bias, biases);
    }
    for (int64_t row = part; row < rows; row += parts) {
      const In* const in = x + row * n;
      Values held[kHeld];
      packs.Hold(in, held);
      const Sum middle = mean == nullptr ? Sum(0) : MeanOf(packs, in, held);
      const Sum scale = ScaleOf(packs, in, held, middle);
      const auto write = [&](const Values& values, const Values& w, const Values& b, int first) {
        Values out;
        TORUS_UNROLL
        for (int k = 0; k < Packs::kPack; ++k)
          out.at[k] = std::fma((values.at[k] - middle) * scale, w.at[k], b.at[k]);
        packs.Write(out, y + row * n, first);
      };
      if constexpr (kThreads == 32)
        packs.template EachHeld<kHeld>(
            [&](int p, int first) { write(held[p], weights[p], biases[p], first); });
      else
        packs.Each(in, held, [&](const Values& values, int first) {
          write(values, packs.Read(weight, first), packs.Read(bias, first), first);
        });
      if (threadIdx.x != 0) continue;
      if (mean != nullptr) mean[row] = middle;
      rstd[row] = scale;
    }
  }

 private:
  template <int kThreads, class Values>
  __device__ Sum MeanOf(const RowPacks<kThreads, Sum>& packs, const In* in,
                        const Values (&held)[kHeld]) const {
    Sum sum = Sum(0);
    packs.Each(in, held, [&](const Values& values, int) {
      TORUS_UNROLL
      for (int k = 0; k < packs.kPack; ++k) sum += values.at[k];
    });
    return CombineBlock<kThreads>(sum, Plus()) / static_cast<Sum>(n);
  }
  // A second pass subtracts the mean, which avoids cancellation.
  template <int kThreads, class Values>
  __device__ Sum ScaleOf(const RowPacks<kThreads, Sum>& packs, const In* in,
                         const Values (&held)[kHeld], Sum middle) const {
    Sum squares = Sum(0);
    packs.Each(in, held, [&](const Values& values, int first) {
      TORUS_UNROLL
      for (int k = 0; k < packs.kPack; ++k) {
        const Sum centered = packs.Has(first, k) ? values.at[k] - middle : Sum(0);
        squares = std::fma(centered, centered, squares);
      }
    });
    const Sum variance = CombineBlock<kThreads>(squares, Plus()) / static_cast<Sum>(n);
    return static_cast<Sum>(1 / std::sqrt(static_cast<double>(variance) + eps));
  }
};

}  // namespace

void LayerNorm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps, Tensor& y,
               Tensor& mean, Tensor& rstd) {
  const StreamHandle stream = CurrentStream(y.device());
  VisitLayerNormTypes(x, y, [&]<class In, class Out>() {
    using Sum = SumOf<In>;
    const int64_t rows = rstd.numel(), n = weight.numel();
    const bool aligned = RowsByPacks<Sum>(n, {x.raw(), y.raw(), weight.raw(), bias.raw()});
    // A warp needs no barrier. As many as a large GPU has resident, with the registers they take.
    const bool by_warps = n <= 32 * NormalizeRows<In, Out>::kHeld * RowPacks<32, Sum>::kPack;
    const int64_t parts = by_warps ? std::min<int64_t>(rows, 132 * 12) : rows;
    const NormalizeRows<In, Out> body{static_cast<int>(n),
                                      aligned,
                                      rows,
                                      parts,
                                      eps,
                                      Elements<In>(x),
                                      Elements<Sum>(weight),
                                      Elements<Sum>(bias),
                                      MutableElements<Out>(y),
                                      MutableElementsOrNull<Sum>(mean),
                                      MutableElements<Sum>(rstd)};
    if (by_warps)
      ForEachBlock<32>(kLayerNormOp, parts, stream, body);
    else
      ForEachBlock<256>(kLayerNormOp, parts, stream, body);
  });
}

}  // namespace torus::cuda
