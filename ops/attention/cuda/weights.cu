// Kernels for the weights of composed attention.
#include "ops/attention/kernels.h"
//
#include "ops/attention/cuda/attention_call.h"
#include "runtime/cuda/block.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

template <class T>
struct FactorOf {
  WeightDropout<T> dropout;
  int64_t rows, keys;
  T* out;
  __device__ void operator()(int64_t i) const {
    out[i] = dropout.Factor(i / keys / rows, i / keys % rows, i % keys);
  }
};

template <class T>
struct DeadRow {
  int64_t keys;
  const T* scores;
  bool* dead;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    int alive = 0;
    for (int64_t j = threadIdx.x; j < keys; j += kThreads)
      if (scores[row * keys + j] != -std::numeric_limits<T>::infinity()) alive = 1;
    alive = CombineBlock<kThreads>(alive, Plus());
    if (threadIdx.x == 0) dead[row] = alive == 0;
  }
};

}  // namespace

void DropoutFactors(const ops::KeyedDropout& dropout, Tensor& factors) {
  const StreamHandle stream = CurrentStream(factors.device());
  if (factors.numel() == 0) return;
  const int64_t rows = factors.dim(-2), keys = factors.dim(-1);
  const Tensor places = HandOverStreams(kOp, dropout.streams, factors.device(), stream);
  VisitCompute(kOp, factors.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(kOp, factors.numel(), stream,
            FactorOf<T>{WeightDropout<T>(dropout, places, rows, keys), rows, keys,
                        MutableElements<T>(factors)});
  });
}

void FindDeadRows(const Tensor& scores, Tensor& dead) {
  const StreamHandle stream = CurrentStream(dead.device());
  VisitCompute(kOp, scores.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow(kOp, dead.numel(), scores.dim(-1), stream,
               DeadRow<T>{scores.dim(-1), Elements<T>(scores), MutableElements<bool>(dead)});
  });
}

}  // namespace torus::cuda
