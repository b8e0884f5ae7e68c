// The recursions of CTC over one sequence, in log space, for the kernels of all devices. State s of
// 2 length + 1 is a blank if s is even, else label s / 2.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/host_device.h"

namespace torus::ops {

template <class T>
TORUS_HOST_DEVICE T LogOfNothing() {
  return -std::numeric_limits<T>::infinity();
}

// log(exp(a) + exp(b) + exp(c)).
template <class T>
TORUS_HOST_DEVICE T LogSum(T a, T b, T c = LogOfNothing<T>()) {
  T largest = a < b ? b : a;
  largest = largest < c ? c : largest;
  const T shift = largest == LogOfNothing<T>() ? T(0) : largest;  // of nothing: log(0)
  return shift + std::log(std::exp(a - shift) + std::exp(b - shift) + std::exp(c - shift));
}

template <class T>
struct CtcSequence {
  const T* log_probs;  // of the first frame
  int64_t frame;       // elements from one frame to the next
  const int64_t* labels;
  int64_t length, frames, blank;

  TORUS_HOST_DEVICE int64_t states() const { return 2 * length + 1; }
  TORUS_HOST_DEVICE int64_t ClassOf(int64_t s) const { return s % 2 == 0 ? blank : labels[s / 2]; }
  TORUS_HOST_DEVICE T LogProb(int64_t t, int64_t s) const {
    return log_probs[t * frame + ClassOf(s)];
  }
  // Whether a path may come to s from s - 2: labels that differ need no blank between them.
  TORUS_HOST_DEVICE bool Skips(int64_t s) const { return s >= 2 && ClassOf(s) != ClassOf(s - 2); }

  // Equations 6 and 7: log alpha_t(s), given those of frame t - 1.
  TORUS_HOST_DEVICE T Alpha(int64_t t, int64_t s, const T* before) const {
    const T nothing = LogOfNothing<T>();
    if (t == 0) return s < 2 ? LogProb(t, s) : nothing;
    return LogProb(t, s) +
           LogSum(before[s], s >= 1 ? before[s - 1] : nothing, Skips(s) ? before[s - 2] : nothing);
  }
  // Equations 9 and 10: log beta_t(s), given those of frame t + 1.
  TORUS_HOST_DEVICE T Beta(int64_t t, int64_t s, const T* after) const {
    const T nothing = LogOfNothing<T>();
    if (t + 1 == frames) return s + 2 >= states() ? LogProb(t, s) : nothing;
    return LogProb(t, s) + LogSum(after[s], s + 1 < states() ? after[s + 1] : nothing,
                                  s + 2 < states() && Skips(s + 2) ? after[s + 2] : nothing);
  }
  // Equation 8: the loss, given log alpha of the last frame.
  TORUS_HOST_DEVICE T Loss(const T* last) const {
    if (frames == 0) return length == 0 ? T(0) : std::numeric_limits<T>::infinity();
    const int64_t s = states() - 1;
    return -LogSum(last[s], s >= 1 ? last[s - 1] : LogOfNothing<T>());
  }
};

// Equation 16, before the softmax: `both` is log(sum of alpha beta) over the states of the class,
// in which the frame's own probability counts twice.
template <class T>
TORUS_HOST_DEVICE T CtcSlope(T log_prob, T both, T loss) {
  return std::exp(log_prob) - std::exp(both + loss - log_prob);
}

}  // namespace torus::ops
