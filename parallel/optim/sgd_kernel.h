// The inner loop of SGD; Highway picks the vector width at run time, and every width from x86-64-v3
// and Armv8 on gives the same bits.
#pragma once

#include <cstdint>

namespace torus::parallel {

// The numbers of a step, as in SgdOptions. Members without a comment are those.
struct SgdScalars {
  double learning_rate = 0;
  double gradient_scale = 1;  // negative to maximize
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool first = false;  // the parameter's first step: the buffer is written, not read
};

// For every element; each line is a fused multiply-add, rounded once, as in PyTorch's CPU kernels
// (buffer * momentum is rounded separately):
//   d = gradient * gradient_scale
//   d = d + weight_decay * parameter
//   buffer = first ? d : buffer * momentum + (1 - dampening) * d
//   d = nesterov ? d + momentum * buffer : buffer
//   parameter = parameter - learning_rate * d
// Without momentum `buffer` is null, and the lines of the buffer and of Nesterov are left out.
void SgdUpdate(float* parameter, const float* gradient, float* buffer, int64_t count,
               const SgdScalars& scalars);
void SgdUpdate(double* parameter, const double* gradient, double* buffer, int64_t count,
               const SgdScalars& scalars);

}  // namespace torus::parallel
