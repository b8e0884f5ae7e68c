#include <cstdint>

#include "ops/attention/cuda/attention_call.h"
#include "ops/attention/cuda/flash_attention.h"
#include "ops/attention/cuda/flash_gradients.h"
#include "ops/attention/cuda/visit_flash.h"
//
#include "runtime/cuda/block.h"
#include "runtime/cuda/pack_floats.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

// One row by 16 lanes, each of which has a vector of eight elements.
template <class T>
struct StateOfRows {
  static constexpr int kBlocks = 8, kLanes = kFlashWidest / 8;
  HeadMatrices<const T> out, dout;
  const float *largest, *log_sum;
  RowState* states;
  int64_t count, rows;  // of all heads, and of one
  int width;

  __device__ void Run(int64_t task) const {
    const int64_t at = task * (kFlashThreads / kLanes) + threadIdx.x / kLanes;
    const int first = static_cast<int>(threadIdx.x) % kLanes * 8;
    float sum = 0;
    if (at < count) {
      const Wide<float, 8> result = Vector(out, at, first), gradient = Vector(dout, at, first);
      TORUS_UNROLL
      for (int k = 0; k < 8; ++k) sum += result.at[k] * gradient.at[k];
    }
    sum = CombineLanes<kLanes>(sum, Plus());
    if (at < count && first == 0) states[at] = {largest[at], log_sum[at], sum, 0};
  }

 private:
  __device__ Wide<float, 8> Vector(const HeadMatrices<const T>& m, int64_t at, int first) const {
    const T* const from = m.At(at / rows, at % rows) + first;
    const int left = width - first;
    Pack<T, 8> pack{};
    if (m.vectors && left > 0) {
      pack = *reinterpret_cast<const Pack<T, 8>*>(from);
    } else {
      for (int k = 0; k < 8; ++k)
        if (k < left) pack.at[k] = from[k];
    }
    return WidenPack(pack);
  }
};

template <class T>
void StatesOf(const ops::AttentionOutputs& out, const Tensor& dout, Tensor& states,
              StreamHandle stream) {
  constexpr int64_t kRowsOfBlock = kFlashThreads / StateOfRows<T>::kLanes;
  const int64_t count = out.largest.numel();
  ForEachFlashTile(kOp, (count + kRowsOfBlock - 1) / kRowsOfBlock, stream,
                   StateOfRows<T>{Read<T>(out.out), Read<T>(dout), Elements<float>(out.largest),
                                  Elements<float>(out.log_sum),
                                  reinterpret_cast<RowState*>(MutableElements<float>(states)),
                                  count, dout.dim(-2), static_cast<int>(dout.dim(-1))});
}

}  // namespace

void FlashAttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                            const ops::AttentionOutputs& out, const Tensor& dout,
                            ops::AttentionGradients& gradients, StreamHandle stream) {
  const Tensor places = HandOverStreams(kOp, problem.dropout.streams, dout.device(), stream);
  Tensor states({out.largest.numel(), 4}, DType::kF32, dout.device());
  if (dout.dtype() == DType::kBF16)
    StatesOf<BFloat16>(out, dout, states, stream);
  else
    StatesOf<Float16>(out, dout, states, stream);
  const FlashGradientArguments arguments{problem, in, dout, states, places};
  if (gradients.key.defined() || gradients.value.defined())
    FlashKeyGradients(arguments, gradients.key, gradients.value, stream);
  if (gradients.query.defined()) FlashQueryGradient(arguments, gradients.query, stream);
}

}  // namespace torus::cuda
