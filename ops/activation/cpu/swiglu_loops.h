// The loops of SwiGLU on one thread: f32 vectorised in activation_vector.cc, f64 by the definition.
#pragma once

#include <cstdint>

#include "ops/activation/activation_functors.h"

namespace torus::cpu {

void SwigluLoop(int64_t n, const float* gate, const float* up, float* y);
void SwigluBackwardLoop(int64_t n, const float* gate, const float* up, const float* dy,
                        float* dgate, float* dup);

inline void SwigluLoop(int64_t n, const double* gate, const double* up, double* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = ops::SiluFunctor{}.Forward(gate[i]) * up[i];
}

inline void SwigluBackwardLoop(int64_t n, const double* gate, const double* up, const double* dy,
                               double* dgate, double* dup) {
  for (int64_t i = 0; i < n; ++i) {
    dgate[i] = ops::SiluFunctor{}.Backward(gate[i], dy[i] * up[i]);
    dup[i] = dy[i] * ops::SiluFunctor{}.Forward(gate[i]);
  }
}

}  // namespace torus::cpu
