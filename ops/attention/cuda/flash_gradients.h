// What the kernels of flash attention's backward share. For kernel sources only.
#pragma once

#include <cstdint>

#include "ops/attention/cuda/attention_call.h"
#include "ops/attention/cuda/flash_scores.h"
#include "ops/attention/cuda/flash_tiles.h"

namespace torus::cuda {

// What the backward needs of a row: its statistics from the forward, and the dot product of its
// result and the gradient of that, which is sum_j weight_j d weight_j.
struct alignas(16) RowState {
  float largest, log_sum, mean, unused;

  __device__ float Weight(float score) const {
    return Exp2((score - largest) * kLog2E - log_sum * kLog2E);
  }
};

// `states` has a RowState for each row of each head, `places` the streams of the dropout.
struct FlashGradientArguments {
  const ops::AttentionProblem& problem;
  const ops::AttentionInputs& in;
  const Tensor &dout, &states, &places;
};

// Either of `dkey` and `dvalue` may be undefined.
void FlashKeyGradients(const FlashGradientArguments& arguments, Tensor& dkey, Tensor& dvalue,
                       StreamHandle stream);
void FlashQueryGradient(const FlashGradientArguments& arguments, Tensor& dquery,
                        StreamHandle stream);

// The matrices of the forward, and those of the result's gradient.
template <class T>
struct FlashGradientCall {
  explicit FlashGradientCall(const FlashGradientArguments& a)
      : call(a.problem, a.in, a.places),
        dout(Read<T>(a.dout)),
        states(reinterpret_cast<const RowState*>(Elements<float>(a.states))) {}

  AttentionCall<T> call;
  HeadMatrices<const T> dout;
  const RowState* states;

  __device__ RowState State(uint32_t head, int row) const {
    return row < call.rows ? states[head * call.rows + row] : RowState{};
  }
};

}  // namespace torus::cuda
