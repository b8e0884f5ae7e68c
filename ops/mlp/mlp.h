// The two layers of a transformer's block behind its attention, with GELU by tanh between them
// (Radford et al. 2019; Hendrycks and Gimpel 2016 for GELU).
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// Weights (in, inner) and (inner, out), as GPT-2 stores them, and biases (inner) and (out), which
// may be undefined.
struct GeluMlpWeights {
  Variable wide, wide_bias, narrow, narrow_bias;
};

// gelu(input wide + wide_bias) narrow + narrow_bias for input (..., in); result (..., out). f32 or
// f64, all of one dtype, any strides; low types by the table of precisions. BadInput for sizes and
// dtypes that do not fit.
//
// LinearInOut, Gelu and LinearInOut, but on a GPU in real or native low types FusedGeluMlp.
Variable GeluMlp(const Variable& input, const GeluMlpWeights& weights);

// The same as one op on any device. GELU and its derivative are part of the products before them
// where the device has that (cuBLASLt in bf16); what is between the layers is rounded as often or
// less often. In f32 on a CPU the bits are those of the three ops.
Variable FusedGeluMlp(const Variable& input, const GeluMlpWeights& weights);

}  // namespace torus::ops
