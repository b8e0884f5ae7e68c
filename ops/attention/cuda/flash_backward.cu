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

// 64 rows of a head, one at a time by 16 lanes, each of which has a vector of eight elements.
template <class T>
struct StateOfRows {
  static constexpr int kBlocks = 8, kLanes = kFlashWidest / 8, kGroups = kFlashThreads / kLanes;
  HeadMatrices<const T> out, dout;
  const float *largest, *log_sum;
  RowState* states;
  int rows, width;

  __device__ void Run(uint32_t head, int tile) const {
    const int thread = static_cast<int>(threadIdx.x), column = thread % kLanes * 8;
    const T *const results = out.At(head, 0), *const gradients = dout.At(head, 0);
    TORUS_UNROLL
    for (int i = 0; i < kFlashLines / kGroups; ++i) {
      const int row = tile * kFlashLines + thread / kLanes + i * kGroups;
      float sum = 0;
      if (row < rows) {
        const Wide<float, 8> result = Vector(out, results, row, column),
                             gradient = Vector(dout, gradients, row, column);
        TORUS_UNROLL
        for (int k = 0; k < 8; ++k) sum += result.at[k] * gradient.at[k];
      }
      sum = CombineLanes<kLanes>(sum, Plus());
      const int64_t at = int64_t{head} * rows + row;
      if (row < rows && column == 0) states[at] = {largest[at], log_sum[at], sum, 0};
    }
  }

 private:
  __device__ Wide<float, 8> Vector(const HeadMatrices<const T>& m, const T* matrix, int row,
                                   int column) const {
    const T* const from = matrix + row * m.stride + column;
    const int left = width - column;
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
  const int64_t heads = out.largest.dim(0), rows = out.largest.dim(1);
  ForEachFlashTile(kOp, heads, rows, stream,
                   StateOfRows<T>{Read<T>(out.out), Read<T>(dout), Elements<float>(out.largest),
                                  Elements<float>(out.log_sum),
                                  reinterpret_cast<RowState*>(MutableElements<float>(states)),
                                  static_cast<int>(rows), static_cast<int>(dout.dim(-1))});
}

}  // namespace

void FlashAttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                            const ops::AttentionOutputs& out, const Tensor& dout,
                            ops::AttentionGradients& gradients, StreamHandle stream) {
  const Tensor places = HandOverStreams(kOp, problem.dropout.streams, dout.device(), stream);
  Tensor states({out.largest.numel(), sizeof(RowState) / sizeof(float)}, DType::kF32,
                dout.device());
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
