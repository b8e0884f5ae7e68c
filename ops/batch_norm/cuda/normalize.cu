#include <initializer_list>
#include <type_traits>

#include "ops/batch_norm/kernels.h"
#include "runtime/cuda/elements.h"
#include "runtime/rows.h"
//
#include "ops/batch_norm/cuda/channel_tiles.h"
#include "ops/batch_norm/cuda/norm_elements.h"
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

template <class T, int pack>
struct NormalizeRows {
  using Sum = SumOf<T>;
  ElementRows<pack> rows;
  int64_t apart;
  AffineOf<Sum> affine;
  Bounds<Sum> bounds;
  const T *x, *residual;  // residual may be null
  T* y;

  __device__ void operator()(int64_t i) const {
    const auto place = rows.At(i);
    const auto normalize = PackAffine<Sum, pack>::Of(affine, place.channel);
    Wide<Sum, pack> values[kTileBurst] = {}, added[kTileBurst] = {};
    TORUS_UNROLL
    for (int r = 0; r < kTileBurst; ++r) {
      const int64_t row = place.row + r * apart;
      if (row >= rows.rows) break;
      const int64_t at = row * rows.channels + place.channel;
      values[r] = ReadWide<pack>(x + at);
      if (residual != nullptr) added[r] = ReadWide<pack>(residual + at);
    }
    TORUS_UNROLL
    for (int r = 0; r < kTileBurst; ++r) {
      const int64_t row = place.row + r * apart;
      if (row >= rows.rows) break;
      Wide<Sum, pack> out =
          residual == nullptr ? normalize(values[r]) : normalize(values[r], added[r]);
      TORUS_UNROLL
      for (int k = 0; k < pack; ++k) out.at[k] = bounds.Clamped(out.at[k]);
      WriteRounded(out, y + row * rows.channels + place.channel);
    }
  }
};

}  // namespace

void NormalizeChannels(const Tensor& x, const ops::ChannelAffine& affine,
                       ops::Activation activation, const Tensor& residual, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  if (x.numel() == 0) return;
  VisitFloats(kNormOp, x.dtype(), [&]<class T>(ComputeType<T>) {
    const T *const from = Elements<T>(x), *const added = ElementsOrNull<T>(residual);
    T* const to = MutableElements<T>(y);
    VisitPack<T>(x.dim(-1), {from, added, to}, [&]<int pack>(std::integral_constant<int, pack>) {
      const ElementRows<pack> rows{RowCount(x), x.dim(-1)};
      ForEach(kNormOp, rows.count(), stream,
              NormalizeRows<T, pack>{rows, rows.apart(), AffineOf<SumOf<T>>(affine),
                                     Bounds<SumOf<T>>(activation), from, added, to});
    });
  });
}

}  // namespace torus::cuda
