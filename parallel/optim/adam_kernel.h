// The inner loop of Adam and AdamW: one pass over parameter, gradient and moments. Highway picks
// the vector width at run time, and every width from x86-64-v3 and Armv8 on gives the same bits.
#pragma once

#include <cstdint>

namespace torus::parallel {

// The numbers of a step, as in AdamOptions. Members without a comment are those.
struct AdamScalars {
  double learning_rate = 0;
  double gradient_scale = 1;  // negative to maximize
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // decay as AdamW does
  double step = 1;         // number of steps of the moments, including this one
  uint64_t stream = 0;     // RandomKey::layer of the chance that rounds narrow moments
};

// The constants of a step, rounded to T once. Computed in one place, so that the kernels of CPU and
// GPU cannot differ by a compiler's fused multiply-adds. Members without a comment are terms of the
// formulas below.
template <class T>
struct AdamConstants {
  explicit AdamConstants(const AdamScalars& scalars);
  T scale, decay, rest1, beta1, beta2, rest2, correction, eps, size;
  bool decoupled, decays;
};

// One parameter's values.
template <class T>
struct AdamTensors {
  T* parameter;
  const T* gradient;   // of the loss
  T *mean, *variance;  // running averages of the gradient and of its square
  T* largest;          // of the variance (AMSGrad); may be null
};

// For every element, with one rounding per operation. Differs by a few ulp per step from PyTorch's
// CPU kernels, whose roundings depend on their vector width:
//   d = gradient * gradient_scale
//   decoupled:  parameter = parameter * (1 - learning_rate * weight_decay)
//   else:       d = fma(parameter, weight_decay, d)
//   mean = fma(d - mean, 1 - beta1, mean); d - (d - mean) * beta1 where beta1 <= 0.5, as lerp does
//   variance = fma((1 - beta2) * d, d, variance * beta2);  largest = max(largest, variance)
//   denominator = fma(sqrt(variance or largest), 1 / sqrt(1 - beta2^step), eps)
//   parameter = parameter - learning_rate / (1 - beta1^step) * mean / denominator
void AdamUpdate(const AdamTensors<float>& tensors, int64_t count, const AdamScalars& scalars);
void AdamUpdate(const AdamTensors<double>& tensors, int64_t count, const AdamScalars& scalars);

}  // namespace torus::parallel
