#include "tools/ledger/machine.h"

#include <algorithm>
#include <cmath>

namespace torus::ledger {

double RateOf(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return 1;
    case Unit::kF64:
      return 60e12;  // the datasheet's, rounded down; no step of ours multiplies in f64
    case Unit::kF32:
      return 52e12;  // measured: a product of 8192 cubed, by PyTorch
    case Unit::kTf32:
      return 410e12;  // measured: the same, by ours
    case Unit::kLow:
      return 770e12;  // measured: the same, by ours in bf16
    case Unit::kAttention:
      return 320e12;  // measured: cuDNN's kernel in gpt2:16x1024, 25.8 GFLOP in 82 us
    case Unit::kAttentionBackward:
      return 190e12;  // measured: its three kernels there, 64.4 GFLOP in 334 us
  }
  return 1;
}

double Machine::Seconds(const Work& work, double cached) const {
  if (work.over_bus > 0) return launch + work.over_bus / kBusBytes;
  const double memory =
      std::max((work.sectors() - cached) / memory_bytes, work.moved / cache_bytes);
  if (work.launches == 0) return EndSeconds(work, memory);
  return work.library && work.flops > 0 ? ProductSeconds(work, memory)
                                        : KernelSeconds(work, memory);
}

// Multiprocessors compute a tile each at a time, the last wave of them perhaps few.
double Machine::ProductSeconds(const Work& work, double memory) const {
  const double waves = std::ceil(work.tiles / kMultiprocessors);
  const double one = work.tile_flops / (RateOf(work.unit) / kMultiprocessors);
  return product_start * work.launches +
         std::max(waves * one * (work.unaligned ? unaligned : 1), memory);
}

double Machine::KernelSeconds(const Work& work, double memory) const {
  const double rounds = std::max(1.0, work.threads / (kMultiprocessors * kResidentThreads));
  return launch + std::max({memory, work.instructions / instructions, wait * work.waits * rounds});
}

// By the last blocks of a launch, each on a multiprocessor of its own, while the others idle.
double Machine::EndSeconds(const Work& work, double memory) const {
  const double busy = std::min(1.0, work.blocks / kMultiprocessors);
  return std::max({memory, work.moved / (cache_bytes * busy),
                   work.instructions / (instructions * busy), wait * work.waits});
}

}  // namespace torus::ledger
