// The p-norm of a row, shared by the kernels of all devices.
#pragma once

#include <cmath>

#include "runtime/host_device.h"

namespace torus::ops {

// Root(Joined(Term(x_0), Term(x_1), ...)); p is above 0, and for an infinite p the norm is the
// largest magnitude.
struct RowNorm {
  double p;
  TORUS_HOST_DEVICE bool IsLargest() const { return p == INFINITY; }
  template <class T>
  TORUS_HOST_DEVICE T Term(T x) const {
    if (p == 2) return x * x;
    const T size = std::fabs(x);
    return p == 1 || IsLargest() ? size : std::pow(size, static_cast<T>(p));
  }
  template <class T>
  TORUS_HOST_DEVICE T Joined(T a, T b) const {
    if (!IsLargest()) return a + b;
    return a != a || a > b ? a : b;
  }
  template <class T>
  TORUS_HOST_DEVICE T Root(T joined) const {
    if (p == 2) return std::sqrt(joined);
    return p == 1 || IsLargest() ? joined : std::pow(joined, static_cast<T>(1 / p));
  }
};

// What PyTorch scales a row of that norm by, so that it becomes at most `most`.
template <class T>
TORUS_HOST_DEVICE T ScaleToNorm(T norm, double most) {
  return norm > most ? static_cast<T>(most / (static_cast<double>(norm) + 1e-7)) : T(1);
}

}  // namespace torus::ops
