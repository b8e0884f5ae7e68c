// An LSTM's cell on a vector of f32 units, forward and backward; include it after hwy/highway.h.
//
// `part` (ops/cpu/rows-inl.h) says how many lanes are units. Gates i, f, g and o of a row lie side
// by side, each of `hidden` units; pointers to gates point to the first of the units in i.
#include <cstdint>

#include "hwy/highway.h"
#include "ops/cpu/functions-inl.h"
#include "ops/cpu/rows-inl.h"

// The guard toggles with each pass of foreach_target.h.
#if defined(TORUS_OPS_LSTM_CELL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORUS_OPS_LSTM_CELL_INL_H_
#undef TORUS_OPS_LSTM_CELL_INL_H_
#else
#define TORUS_OPS_LSTM_CELL_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
struct LstmGates {
  hn::Vec<D> i, f, g, o;
};

template <class D, class Part>
HWY_INLINE LstmGates<D> LoadGates(D d, Part part, const float* at, int64_t hidden) {
  return {part.Load(d, at), part.Load(d, at + hidden), part.Load(d, at + 2 * hidden),
          part.Load(d, at + 3 * hidden)};
}

template <class D, class Part>
HWY_INLINE void StoreGates(D d, Part part, const LstmGates<D>& gates, float* at, int64_t hidden) {
  part.Store(gates.i, d, at);
  part.Store(gates.f, d, at + hidden);
  part.Store(gates.g, d, at + 2 * hidden);
  part.Store(gates.o, d, at + 3 * hidden);
}

template <class D>
HWY_INLINE LstmGates<D> AddGates(const LstmGates<D>& a, const LstmGates<D>& b) {
  return {hn::Add(a.i, b.i), hn::Add(a.f, b.f), hn::Add(a.g, b.g), hn::Add(a.o, b.o)};
}

// Writes the gates of `sums`, which they are functions of, and the next h and c.
template <class D, class Part>
HWY_INLINE void CellForward(D d, Part part, const LstmGates<D>& sums, const float* c,
                            int64_t hidden, float* gates, float* next_h, float* next_c) {
  const LstmGates<D> of{Logistic(d, sums.i), Logistic(d, sums.f), Tanh(d, sums.g),
                        Logistic(d, sums.o)};
  const auto next = hn::MulAdd(of.f, part.Load(d, c), hn::Mul(of.i, of.g));
  StoreGates(d, part, of, gates, hidden);
  part.Store(hn::Mul(of.o, Tanh(d, next)), d, next_h);
  part.Store(next, d, next_c);
}

// Writes the gradients of `sums` and c for dh and dnext, those of the next h and c. `dc` may be
// where dnext was loaded from.
template <class D, class Part, class V>
HWY_INLINE void CellBackward(D d, Part part, const float* gates, const float* c,
                             const float* next_c, V dh, V dnext_c, int64_t hidden, float* dsums,
                             float* dc) {
  const auto one = hn::Set(d, 1.0f);
  const LstmGates<D> of = LoadGates(d, part, gates, hidden);
  const auto t = Tanh(d, part.Load(d, next_c));
  const auto dnext = hn::MulAdd(hn::Mul(dh, of.o), hn::NegMulAdd(t, t, one), dnext_c);
  // v of a sigmoid: v (1 - v).
  const auto slope = [&](auto v) HWY_ATTR { return hn::NegMulAdd(v, v, v); };
  const LstmGates<D> of_sums{
      hn::Mul(hn::Mul(dnext, of.g), slope(of.i)),
      hn::Mul(hn::Mul(dnext, part.Load(d, c)), slope(of.f)),
      hn::Mul(hn::Mul(dnext, of.i), hn::NegMulAdd(of.g, of.g, one)),
      hn::Mul(hn::Mul(dh, t), slope(of.o)),
  };
  StoreGates(d, part, of_sums, dsums, hidden);
  part.Store(hn::Mul(dnext, of.f), d, dc);
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
