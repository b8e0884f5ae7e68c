#include <algorithm>
#include <vector>

#include "ops/loss/ctc_sequence.h"
#include "ops/loss/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

template <class T>
ops::CtcSequence<T> SequenceOf(const ops::CtcProblem& p, int64_t n) {
  const int64_t sequences = p.log_probs.dim(1), classes = p.log_probs.dim(2);
  return {.log_probs = p.log_probs.data<T>() + n * classes,
          .frame = sequences * classes,
          .labels = p.targets.data<int64_t>() + p.starts.data<int64_t>()[n],
          .length = p.target_lengths.data<int64_t>()[n],
          .frames = p.input_lengths.data<int64_t>()[n],
          .blank = p.blank};
}

template <class T>
T FillAlpha(const ops::CtcSequence<T>& sequence, int64_t row, T* alpha) {
  const T* before = nullptr;
  for (int64_t t = 0; t < sequence.frames; ++t, before = alpha, alpha += row)
    for (int64_t s = 0; s < sequence.states(); ++s) alpha[s] = sequence.Alpha(t, s, before);
  return sequence.Loss(before);
}

// The gradients of one sequence, in rows of `classes` that lie `sequence.frame` apart.
template <class T>
void Slopes(const ops::CtcSequence<T>& sequence, int64_t row, int64_t classes, const T* alpha,
            T loss, T dloss, T* dx) {
  std::vector<T> beta(static_cast<size_t>(2 * row)), both(static_cast<size_t>(classes));
  for (int64_t t = sequence.frames - 1; t >= 0; --t) {
    T *const now = beta.data() + (t % 2) * row, *const after = beta.data() + ((t + 1) % 2) * row;
    std::fill(both.begin(), both.end(), ops::LogOfNothing<T>());
    for (int64_t s = 0; s < sequence.states(); ++s) {
      now[s] = sequence.Beta(t, s, after);
      T& sum = both[static_cast<size_t>(sequence.ClassOf(s))];
      sum = ops::LogSum(sum, alpha[t * row + s] + now[s]);
    }
    const T* const log_prob = sequence.log_probs + t * sequence.frame;
    for (int64_t c = 0; c < classes; ++c)
      dx[t * sequence.frame + c] =
          dloss * ops::CtcSlope(log_prob[c], both[static_cast<size_t>(c)], loss);
  }
}

}  // namespace

void CtcLoss(const ops::CtcProblem& problem, Tensor& alpha, Tensor& loss) {
  VisitCompute("ctc_loss", loss.dtype(), [&]<class T>(ComputeType<T>) {
    T *const to = alpha.mutable_data<T>(), *const out = loss.mutable_data<T>();
    const int64_t row = problem.states(), frames = problem.log_probs.dim(0);
    ParallelFor(loss.numel(), 1, [&, to, out, row, frames](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n)
        out[n] = FillAlpha(SequenceOf<T>(problem, n), row, to + n * frames * row);
    });
  });
}

void CtcLossBackward(const ops::CtcProblem& problem, const Tensor& alpha, const Tensor& loss,
                     const Tensor& dloss, Tensor& dx) {
  VisitCompute("ctc_loss", dx.dtype(), [&]<class T>(ComputeType<T>) {
    T* const to = dx.mutable_data<T>();
    std::fill_n(to, dx.numel(), T(0));  // frames behind the end of a sequence get nothing
    const T *const states = alpha.data<T>(), *const losses = loss.data<T>(),
                   *const up = dloss.data<T>();
    const int64_t row = problem.states(), frames = dx.dim(0), classes = dx.dim(2);
    ParallelFor(loss.numel(), 1,
                [&, to, states, losses, up, row, frames, classes](int64_t begin, int64_t end) {
                  for (int64_t n = begin; n < end; ++n) {
                    if (problem.zero_infinity && losses[n] == -ops::LogOfNothing<T>()) continue;
                    Slopes(SequenceOf<T>(problem, n), row, classes, states + n * frames * row,
                           losses[n], up[n], to + n * classes);
                  }
                });
  });
}

}  // namespace torus::cpu
