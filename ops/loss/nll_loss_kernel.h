// Kernels of the class losses over contiguous rows of log probabilities. They assume that every
// target is a class or ignored.
#pragma once

#include <cstdint>

namespace torus::cpu {

// Row r puts the factor q(c) = w[c] ((1 - smoothing) [c == target[r]] + smoothing / classes) on its
// class c, and 0 on all if its target is ignored. Without `weight`, w = 1.
template <class T>
struct ClassTargets {
  int64_t rows, classes;
  const int64_t* target;
  const T* weight;  // or null
  int64_t ignore_index;
  double smoothing;
};

// loss[r] = -sum_c q(c) x[r, c]; scale[r] = w[target[r]], or 0 if ignored. T is float or double.
template <class T>
void NllForward(const ClassTargets<T>& targets, const T* x, T* loss, T* scale);

// dx[r, c] = -q(c) dloss[r], overwritten.
template <class T>
void NllBackward(const ClassTargets<T>& targets, const T* dloss, T* dx);

}  // namespace torus::cpu
