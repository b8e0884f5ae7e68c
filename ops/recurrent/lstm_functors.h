// A cell of an LSTM on one element, shared by all devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/host_device.h"

namespace torus::ops {

// Element e of N * hidden; gates have rows of 4 hidden.
struct LstmPlace {
  int64_t i, f, g, o;
  TORUS_HOST_DEVICE LstmPlace(int64_t e, int64_t hidden)
      : i(e / hidden * 4 * hidden + e % hidden), f(i + hidden), g(f + hidden), o(g + hidden) {}
};

template <class T>
struct LstmForward {
  int64_t hidden, count;  // elements of a state
  const T *x, *s, *c;
  T *gates, *out;
  TORUS_HOST_DEVICE static T Sigmoid(T v) { return T(1) / (T(1) + std::exp(-v)); }
  TORUS_HOST_DEVICE void operator()(int64_t e) const {
    const LstmPlace at(e, hidden);
    const T i = Sigmoid(x[at.i] + s[at.i]), f = Sigmoid(x[at.f] + s[at.f]);
    const T g = std::tanh(x[at.g] + s[at.g]), o = Sigmoid(x[at.o] + s[at.o]);
    const T next = f * c[e] + i * g;
    gates[at.i] = i;
    gates[at.f] = f;
    gates[at.g] = g;
    gates[at.o] = o;
    out[e] = o * std::tanh(next);
    out[count + e] = next;
  }
};

template <class T>
struct LstmBackward {
  int64_t hidden, count;
  const T *gates, *c, *out, *dout;
  T *dx, *dc;
  TORUS_HOST_DEVICE void operator()(int64_t e) const {
    const LstmPlace at(e, hidden);
    const T i = gates[at.i], f = gates[at.f], g = gates[at.g], o = gates[at.o];
    const T t = std::tanh(out[count + e]), dh = dout[e];
    const T dnext = dout[count + e] + dh * o * (T(1) - t * t);
    dx[at.i] = dnext * g * i * (T(1) - i);
    dx[at.f] = dnext * c[e] * f * (T(1) - f);
    dx[at.g] = dnext * i * (T(1) - g * g);
    dx[at.o] = dh * t * o * (T(1) - o);
    dc[e] = dnext * f;
  }
};

}  // namespace torus::ops
