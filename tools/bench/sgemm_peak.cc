#include "tools/bench/sgemm_peak.h"

#include <algorithm>
#include <cstdint>

#include "ops/cpu/gemm.h"
#include "runtime/tensor.h"
#include "tools/bench/step_clock.h"

namespace torus::bench {

double SgemmPeak() {
  constexpr int64_t kSize = 2048;
  constexpr int kRepeats = 5;  // after one that warms up
  const Tensor a = Full({kSize, kSize}, 0.5), b = Full({kSize, kSize}, 0.25);
  Tensor c = Zeros({kSize, kSize});
  double best = 0;
  for (int i = 0; i <= kRepeats; ++i) {
    const double begin = StepClock();
    cpu::Gemm(cpu::Transpose::kNo, cpu::Transpose::kNo, kSize, kSize, kSize, 1.0f, a.data<float>(),
              kSize, b.data<float>(), kSize, 0.0f, c.mutable_data<float>(), kSize);
    const double seconds = StepClock() - begin;
    if (i > 0) best = std::max(best, 2e-9 * kSize * kSize * kSize / seconds);
  }
  return best;
}

}  // namespace torus::bench
