#include "ops/loss/ctc_sequence.h"
#include "ops/loss/kernels.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "ctc_loss";

template <class T>
struct Sequences {
  explicit Sequences(const ops::CtcProblem& p)
      : log_probs(Elements<T>(p.log_probs)),
        targets(Elements<int64_t>(p.targets)),
        starts(Elements<int64_t>(p.starts)),
        input_lengths(Elements<int64_t>(p.input_lengths)),
        target_lengths(Elements<int64_t>(p.target_lengths)),
        frames(p.log_probs.dim(0)),
        count(p.log_probs.dim(1)),
        classes(p.log_probs.dim(2)),
        states(p.states()),
        blank(p.blank) {}

  __device__ ops::CtcSequence<T> At(int64_t n) const {
    return {log_probs + n * classes, count * classes,  targets + starts[n],
            target_lengths[n],       input_lengths[n], blank};
  }

  const T* log_probs;
  const int64_t *targets, *starts, *input_lengths, *target_lengths;
  int64_t frames, count, classes, states, blank;
};

// A block has a sequence, a thread some of its states.
template <class T>
struct FillAlpha {
  Sequences<T> sequences;
  T *alpha, *loss;

  template <int kThreads>
  __device__ void Run(int64_t n) const {
    const ops::CtcSequence<T> sequence = sequences.At(n);
    T* now = alpha + n * sequences.frames * sequences.states;
    const T* before = nullptr;
    for (int64_t t = 0; t < sequence.frames; ++t) {
      for (int64_t s = threadIdx.x; s < sequence.states(); s += kThreads)
        now[s] = sequence.Alpha(t, s, before);
      __syncthreads();
      before = now;
      now += sequences.states;
    }
    if (threadIdx.x == 0) loss[n] = sequence.Loss(before);
  }
};

template <class T>
struct Slopes {
  Sequences<T> sequences;
  const T *alpha, *loss, *dloss;
  T* beta;  // (N, 2, states): of two frames
  T* dx;
  bool zero_infinity;

  template <int kThreads>
  __device__ void Run(int64_t n) const {
    const ops::CtcSequence<T> sequence = sequences.At(n);
    const bool counts = !zero_infinity || loss[n] != -ops::LogOfNothing<T>();
    const int64_t frames = counts ? sequence.frames : 0;
    for (int64_t t = frames; t < sequences.frames; ++t)
      for (int64_t c = threadIdx.x; c < sequences.classes; c += kThreads)
        dx[t * sequence.frame + n * sequences.classes + c] = T(0);
    for (int64_t t = frames - 1; t >= 0; --t) {
      T* const now = BetaOf(n, t);
      for (int64_t s = threadIdx.x; s < sequence.states(); s += kThreads)
        now[s] = sequence.Beta(t, s, BetaOf(n, t + 1));
      // As if no state had the class; the first state of each class then writes what is right.
      for (int64_t c = threadIdx.x; c < sequences.classes; c += kThreads)
        Write(sequence, n, t, c, ops::LogOfNothing<T>());
      __syncthreads();
      for (int64_t s = threadIdx.x; s < sequence.states(); s += kThreads)
        if (IsFirst(sequence, s))
          Write(sequence, n, t, sequence.ClassOf(s), SumOfClass(sequence, n, t, s));
    }
  }

 private:
  __device__ T* BetaOf(int64_t n, int64_t t) const {
    return beta + (2 * n + t % 2) * sequences.states;
  }
  __device__ void Write(const ops::CtcSequence<T>& sequence, int64_t n, int64_t t, int64_t c,
                        T both) const {
    dx[t * sequence.frame + n * sequences.classes + c] =
        dloss[n] * ops::CtcSlope(sequence.log_probs[t * sequence.frame + c], both, loss[n]);
  }
  __device__ static bool IsFirst(const ops::CtcSequence<T>& sequence, int64_t s) {
    for (int64_t before = 0; before < s; ++before)
      if (sequence.ClassOf(before) == sequence.ClassOf(s)) return false;
    return true;
  }
  // Over this state and those behind it of its class, in their order.
  __device__ T SumOfClass(const ops::CtcSequence<T>& sequence, int64_t n, int64_t t,
                          int64_t first) const {
    const T* const states = alpha + (n * sequences.frames + t) * sequences.states;
    const T* const now = BetaOf(n, t);
    T sum = ops::LogOfNothing<T>();
    for (int64_t s = first; s < sequence.states(); ++s)
      if (sequence.ClassOf(s) == sequence.ClassOf(first))
        sum = ops::LogSum(sum, states[s] + now[s]);
    return sum;
  }
};

}  // namespace

void CtcLoss(const ops::CtcProblem& problem, Tensor& alpha, Tensor& loss) {
  const StreamHandle stream = CurrentStream(loss.device());
  VisitCompute(kOp, loss.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachBlock<128>(
        kOp, loss.numel(), stream,
        FillAlpha<T>{Sequences<T>(problem), MutableElements<T>(alpha), MutableElements<T>(loss)});
  });
}

void CtcLossBackward(const ops::CtcProblem& problem, const Tensor& alpha, const Tensor& loss,
                     const Tensor& dloss, Tensor& dx) {
  const StreamHandle stream = CurrentStream(dx.device());
  Tensor beta({loss.numel(), 2, problem.states()}, dx.dtype(), dx.device());
  VisitCompute(kOp, dx.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachBlock<128>(
        kOp, loss.numel(), stream,
        Slopes<T>{Sequences<T>(problem), Elements<T>(alpha), Elements<T>(loss), Elements<T>(dloss),
                  MutableElements<T>(beta), MutableElements<T>(dx), problem.zero_infinity});
  });
}

}  // namespace torus::cuda
