// What one launch, or one call of a library, asks of a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/ledger/sectors.h"

namespace torus::ledger {

// The unit that computes an operation's FLOPs.
enum class Unit : uint8_t { kNone, kF64, kF32, kTf32, kLow, kAttention, kAttentionBackward };

struct Work {
  std::string op, kernel;
  int launches = 1;  // 0: the end of the launch before, by its last blocks
  bool library = false;
  bool beside = false;                     // in a stream of its own, while kernels compute
  std::vector<TensorBytes> read, written;  // of the whole launch; bytes are at most the tensor's
  double over_bus = 0;                     // bytes that are copied from or to the CPU's memory
  double requested = 0;                    // bytes of sectors, for each instruction of a warp anew
  double moved = 0;                        // the same, once a block
  double instructions = 0;                 // of threads (thread_steps.h)
  double waits = 0;                        // of each thread, for loads
  double blocks = 0, threads = 0;
  double flops = 0;
  Unit unit = Unit::kNone;
  // Of a product: its result's tiles, and what computing one takes, with what lies outside of the
  // result.
  double tiles = 0, tile_flops = 0;
  bool unaligned = false;  // a product whose rows do not begin at multiples of 16 bytes

  // Each byte that is read and written, once.
  double must() const;
  // The sectors they lie in, once.
  double sectors() const;
};

// In the order in which the GPU is given them.
using Works = std::vector<std::shared_ptr<const Work>>;

}  // namespace torus::ledger
