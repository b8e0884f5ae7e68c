// What composed attention asks of its weights, and the table of random streams.
#include <vector>

#include "ops/attention/cuda/attention.h"
#include "runtime/rng.h"
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

Tensor StreamPlaces(const ops::KeyedDropout& dropout, Device device) {
  static_assert(sizeof(StreamPlace) == 2 * sizeof(int64_t));
  if (dropout.streams.empty()) return {};
  std::vector<int64_t> words;
  for (const RandomStream& stream : dropout.streams) {
    const uint64_t key = uint64_t{stream.key()[1]} << 32 | stream.key()[0];
    words.push_back(static_cast<int64_t>(key));
    words.push_back(static_cast<int64_t>(stream.counter_high()));
  }
  return FromVector(words, {std::ssize(words)}).To(device);
}

void DropoutFactors(const ops::KeyedDropout& dropout, Tensor& factors, StreamHandle stream) {
  if (factors.numel() == 0) return;
  const int64_t rows = factors.dim(-2), keys = factors.dim(-1);
  const Tensor places = StreamPlaces(dropout, factors.device());
  VisitCompute(kOp, factors.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(kOp, factors.numel(), stream,
            FactorOf<T>{WeightDropout<T>(dropout, places, rows, keys), rows, keys,
                        MutableElements<T>(factors)});
  });
}

void FindDeadRows(const Tensor& scores, Tensor& dead, StreamHandle stream) {
  VisitCompute(kOp, scores.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow(kOp, dead.numel(), scores.dim(-1), stream,
               DeadRow<T>{scores.dim(-1), Elements<T>(scores), MutableElements<bool>(dead)});
  });
}

}  // namespace torus::cuda
