#include "tools/bench/gemm_peak.h"

#include <algorithm>
#include <cstdint>

#include "ops/cpu/multiply.h"
#include "runtime/tensor.h"
#include "tools/bench/step_clock.h"

namespace torus::bench {
namespace {

template <class T>
double PeakOf() {
  constexpr int64_t kSize = 2048;
  constexpr int kRepeats = 5;  // after one that warms up
  const Tensor a = Full({kSize, kSize}, 0.5, kDTypeOf<T>),
               b = Full({kSize, kSize}, 0.25, a.dtype());
  Tensor c = Zeros({kSize, kSize});
  double best = 0;
  for (int i = 0; i <= kRepeats; ++i) {
    const double begin = StepClock();
    cpu::Multiply(cpu::Transpose::kNo, cpu::Transpose::kNo, kSize, kSize, kSize, a.data<T>(), kSize,
                  b.data<T>(), kSize, false, c.mutable_data<float>(), kSize);
    const double seconds = StepClock() - begin;
    if (i > 0) best = std::max(best, 2e-9 * kSize * kSize * kSize / seconds);
  }
  return best;
}

}  // namespace

double GemmPeak(Precision precision) {
  return precision == Precision(DType::kBF16, MatmulMode::kNative) ? PeakOf<BFloat16>()
                                                                   : PeakOf<float>();
}

}  // namespace torus::bench
