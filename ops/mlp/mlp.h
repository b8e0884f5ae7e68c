// The MLP of a transformer block: two linear layers with tanh GELU between them (Radford et al.
// 2019; Hendrycks and Gimpel 2016 for GELU).
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// Weights (in, inner) and (inner, out), as GPT-2 stores them, and biases (inner) and (out), which
// may be undefined.
struct GeluMlpWeights {
  Variable wide, wide_bias, narrow, narrow_bias;
};

// gelu(input wide + wide_bias) narrow + narrow_bias for input (..., in); result (..., out). f32 or
// f64, all of one dtype, any strides; 16-bit types follow the precision policy
// (ops/precision/policy.h). Throws BadInput for sizes and dtypes that do not fit.
//
// Runs LinearInOut, Gelu and LinearInOut; on a GPU runs FusedGeluMlp, unless a WithPrecision
// emulates the low type. The result is added to the residual, unless that is undefined, as
// LinearPlus does (ops/matmul/linear_plus.h).
Variable GeluMlp(const Variable& input, const GeluMlpWeights& weights,
                 const Variable& residual = {});

// The same as one op, on any device. GELU and its derivative are fused into the preceding products
// if the device supports it (cuBLASLt in bf16); values between the layers are then rounded at most
// as often. In f32 on a CPU the bits are those of the three ops.
Variable FusedGeluMlp(const Variable& input, const GeluMlpWeights& weights,
                      const Variable& residual = {});

}  // namespace torus::ops
