#include "ops/recurrent/cpu/lstm_vector.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/recurrent/cpu/lstm_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "ops/cpu/functions-inl.h"
#include "ops/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void ForwardRows(const ops::LstmForward<float>& l, int64_t begin, int64_t end) {
  const hn::ScalableTag<float> d;
  for (int64_t row = begin; row < end; ++row)
    OverRow(d, l.hidden, [&](auto part, auto, int64_t j) HWY_ATTR {
      const int64_t e = row * l.hidden + j;
      const ops::LstmPlace at(e, l.hidden);
      const auto sum = [&](int64_t k) HWY_ATTR {
        return hn::Add(part.Load(d, l.x + k), part.Load(d, l.s + k));
      };
      const auto i = Logistic(d, sum(at.i)), f = Logistic(d, sum(at.f));
      const auto g = Tanh(d, sum(at.g)), o = Logistic(d, sum(at.o));
      const auto next = hn::MulAdd(f, part.Load(d, l.c + e), hn::Mul(i, g));
      part.Store(i, d, l.gates + at.i);
      part.Store(f, d, l.gates + at.f);
      part.Store(g, d, l.gates + at.g);
      part.Store(o, d, l.gates + at.o);
      part.Store(hn::Mul(o, Tanh(d, next)), d, l.out + e);
      part.Store(next, d, l.out + l.count + e);
    });
}

void BackwardRows(const ops::LstmBackward<float>& l, int64_t begin, int64_t end) {
  const hn::ScalableTag<float> d;
  const auto one = hn::Set(d, 1.0f);
  for (int64_t row = begin; row < end; ++row)
    OverRow(d, l.hidden, [&](auto part, auto, int64_t j) HWY_ATTR {
      const int64_t e = row * l.hidden + j;
      const ops::LstmPlace at(e, l.hidden);
      const auto i = part.Load(d, l.gates + at.i), f = part.Load(d, l.gates + at.f);
      const auto g = part.Load(d, l.gates + at.g), o = part.Load(d, l.gates + at.o);
      const auto t = Tanh(d, part.Load(d, l.out + l.count + e)), dh = part.Load(d, l.dout + e);
      const auto dnext =
          hn::MulAdd(hn::Mul(dh, o), hn::NegMulAdd(t, t, one), part.Load(d, l.dout + l.count + e));
      // v of a sigmoid: v (1 - v).
      const auto slope = [&](auto v) HWY_ATTR { return hn::NegMulAdd(v, v, v); };
      part.Store(hn::Mul(hn::Mul(dnext, g), slope(i)), d, l.dx + at.i);
      part.Store(hn::Mul(hn::Mul(dnext, part.Load(d, l.c + e)), slope(f)), d, l.dx + at.f);
      part.Store(hn::Mul(hn::Mul(dnext, i), hn::NegMulAdd(g, g, one)), d, l.dx + at.g);
      part.Store(hn::Mul(hn::Mul(dh, t), slope(o)), d, l.dx + at.o);
      part.Store(hn::Mul(dnext, f), d, l.dc + e);
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
