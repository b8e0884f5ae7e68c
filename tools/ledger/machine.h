// How long a GPU takes for a piece of work: a model with eight constants, each of one kind of
// cause, beside the rates of the units that multiply. docs/ledger.md says how well it predicts.
#pragma once

#include "tools/ledger/work.h"

namespace torus::ledger {

// An H100 with 80 GB of HBM3. Rates are per second. All but the first are fitted to recorded times
// of steps.
struct Machine {
  double memory_bytes = 2850e9;   // measured: copies within the GPU, of reads and writes together
  double cache_bytes = 2450e9;    // of the L2 cache
  double instructions = 41e12;    // of threads, counted as instruction.h does
  double wait = 0.3e-6;           // for a load
  double launch = 1.1e-6;         // the least that a kernel takes
  double gap = 0.4e-6;            // between two kernels of a graph
  double product_start = 3.5e-6;  // until a product's cores are busy, and at its end
  double unaligned = 7.4;         // how much longer a product takes whose rows are not aligned

  // Seconds in one of its kernels. Of what it reads, `cached` bytes lie in the L2 cache.
  double Seconds(const Work& work, double cached) const;

 private:
  double ProductSeconds(const Work& work, double memory) const;
  double KernelSeconds(const Work& work, double memory) const;
  double EndSeconds(const Work& work, double memory) const;
};

// FLOPs a second, with what each is known from.
double RateOf(Unit unit);

inline constexpr double kMultiprocessors = 132;
inline constexpr double kResidentThreads = 2048;  // of a multiprocessor
inline constexpr double kCacheBytes = 50e6;       // L2
// A second, from the CPU's pinned memory: a step's 154 MB of images took 1.87 ms. That is more than
// the 63 GB/s of a PCIe 5 slot with 16 lanes, so it holds for hosts that are connected as that one
// was. To the CPU the same is assumed.
inline constexpr double kBusBytes = 82e9;

}  // namespace torus::ledger
