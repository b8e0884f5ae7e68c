#include "ops/recurrent/cpu/lstm_vector.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/recurrent/cpu/lstm_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "ops/recurrent/cpu/lstm_cell-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

void ForwardRows(const ops::LstmForward<float>& l, int64_t begin, int64_t end) {
  const hn::ScalableTag<float> d;
  for (int64_t row = begin; row < end; ++row)
    OverRow(d, l.hidden, [&](auto part, auto, int64_t j) HWY_ATTR {
      const int64_t e = row * l.hidden + j, at = 4 * row * l.hidden + j;
      const auto sums =
          AddGates(LoadGates(d, part, l.x + at, l.hidden), LoadGates(d, part, l.s + at, l.hidden));
      CellForward(d, part, sums, l.c + e, l.hidden, l.gates + at, l.out + e, l.out + l.count + e);
    });
}

void BackwardRows(const ops::LstmBackward<float>& l, int64_t begin, int64_t end) {
  const hn::ScalableTag<float> d;
  for (int64_t row = begin; row < end; ++row)
    OverRow(d, l.hidden, [&](auto part, auto, int64_t j) HWY_ATTR {
      const int64_t e = row * l.hidden + j, at = 4 * row * l.hidden + j;
      CellBackward(d, part, l.gates + at, l.c + e, l.out + l.count + e, part.Load(d, l.dout + e),
                   part.Load(d, l.dout + l.count + e), l.hidden, l.dx + at, l.dc + e);
    });
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

HWY_EXPORT(ForwardRows);
HWY_EXPORT(BackwardRows);

void LstmForwardRows(const ops::LstmForward<float>& cell, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(ForwardRows)(cell, begin, end);
}

void LstmBackwardRows(const ops::LstmBackward<float>& cell, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(BackwardRows)(cell, begin, end);
}

}  // namespace torus::cpu
#endif  // HWY_ONCE
