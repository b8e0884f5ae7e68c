#include "ops/activation/cpu/swiglu_loops.h"
#include "ops/activation/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kGrain = 1 << 13;  // elements that are worth waking a thread for

}  // namespace

// Elements are independent, so the split changes no bits.
void Swiglu(const Tensor& gate, const Tensor& up, Tensor& y) {
  VisitCompute("swiglu", y.dtype(), [&]<class T>(ComputeType<T>) {
    const T *a = gate.data<T>(), *b = up.data<T>();
    T* const out = y.mutable_data<T>();
    ParallelFor(y.numel(), kGrain, [=](int64_t begin, int64_t end) {
      SwigluLoop(end - begin, a + begin, b + begin, out + begin);
    });
  });
}

void SwigluBackward(const Tensor& gate, const Tensor& up, const Tensor& dy, Tensor& dgate,
                    Tensor& dup) {
  VisitCompute("swiglu", dy.dtype(), [&]<class T>(ComputeType<T>) {
    const T *a = gate.data<T>(), *b = up.data<T>(), *g = dy.data<T>();
    T *const da = dgate.mutable_data<T>(), *const db = dup.mutable_data<T>();
    ParallelFor(dy.numel(), kGrain, [=](int64_t begin, int64_t end) {
      SwigluBackwardLoop(end - begin, a + begin, b + begin, g + begin, da + begin, db + begin);
    });
  });
}

}  // namespace torus::cpu
