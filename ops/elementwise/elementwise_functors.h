// The arithmetic of the binary ops for one element; the same code runs on CPU and GPU.
//
// Those of i64 are modulo 2^64, as in PyTorch; a divisor is not 0. It is -1 apart, because the
// quotient of the smallest number and -1 does not exist, and an x86 processor traps.
#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/host_device.h"

namespace torus::ops {

struct AddFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
  TORUS_HOST_DEVICE int64_t operator()(int64_t a, int64_t b) const {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};

struct SubFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return a - b;
  }
  TORUS_HOST_DEVICE int64_t operator()(int64_t a, int64_t b) const {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
};

struct MulFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return a * b;
  }
  TORUS_HOST_DEVICE int64_t operator()(int64_t a, int64_t b) const {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};

struct DivFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return a / b;
  }
};

struct TruncDivFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return std::trunc(a / b);
  }
  TORUS_HOST_DEVICE int64_t operator()(int64_t a, int64_t b) const {
    return b == -1 ? SubFunctor()(int64_t{0}, a) : a / b;
  }
};

// Computed from the exact remainder, as in Python, because a / b may round up to the next integer.
struct FloorDivFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    if (b == T(0)) return a / b;
    const T rest = std::fmod(a, b);
    const T down = rest != T(0) && (b < T(0)) != (rest < T(0)) ? T(1) : T(0);
    const T quotient = (a - rest) / b - down;
    if (quotient == T(0)) return std::copysign(T(0), a / b);
    const T floor = std::floor(quotient);
    return quotient - floor > T(0.5) ? floor + T(1) : floor;
  }
  TORUS_HOST_DEVICE int64_t operator()(int64_t a, int64_t b) const {
    if (b == -1) return SubFunctor()(int64_t{0}, a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  }
};

// The remainder of the quotient that was rounded towards zero: it has a's sign.
struct FmodFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return std::fmod(a, b);
  }
  TORUS_HOST_DEVICE int64_t operator()(int64_t a, int64_t b) const { return b == -1 ? 0 : a % b; }
};

// The remainder of the quotient that was rounded down: it has b's sign, as in Python.
struct RemainderFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    const T rest = FmodFunctor()(a, b);
    return rest != T(0) && (b < T(0)) != (rest < T(0)) ? rest + b : rest;
  }
};

// If either is NaN, so is the result.
struct MaximumFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return (a != a) | (a > b) ? a : b;
  }
};

struct MinimumFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return (a != a) | (a < b) ? a : b;
  }
};

struct PowFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return std::pow(a, b);
  }
};

struct EqualFunctor {
  template <class T>
  TORUS_HOST_DEVICE bool operator()(T a, T b) const {
    return a == b;
  }
};

struct NotEqualFunctor {
  template <class T>
  TORUS_HOST_DEVICE bool operator()(T a, T b) const {
    return a != b;
  }
};

struct LessFunctor {
  template <class T>
  TORUS_HOST_DEVICE bool operator()(T a, T b) const {
    return a < b;
  }
};

struct LessEqualFunctor {
  template <class T>
  TORUS_HOST_DEVICE bool operator()(T a, T b) const {
    return a <= b;
  }
};

}  // namespace torus::ops
