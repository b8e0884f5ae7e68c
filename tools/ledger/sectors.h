// Counts what a block's accesses make the memory move, which a GPU does by sectors of 32 bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/ledger/block_trace.h"

namespace torus::ledger {

inline constexpr int64_t kSectorBytes = 32;

// The bytes of one tensor: of one block of the GPU's memory.
struct TensorBytes {
  const void* tensor = nullptr;
  double size = 0;   // of the block
  double bytes = 0;  // that are accessed, each once
  double moved = 0;  // the sectors they lie in, each once
};

struct BlockBytes {
  std::vector<TensorBytes> read, written;  // by where the tensors lie
  // The sectors of each instruction of a warp, in bytes: what the caches beside the cores are asked
  // for.
  double requested = 0;
};

BlockBytes CountSectors(const BlockTrace& trace);

}  // namespace torus::ledger
