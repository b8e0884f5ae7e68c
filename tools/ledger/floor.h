// The least that a step can take: its FLOPs, and each tensor that it needs moved twice.
#pragma once

#include "tools/ledger/work.h"

namespace torus::ledger {

struct Floor {
  double bytes = 0;           // as below, of the memory
  double flops_seconds = 0;   // of products, convolutions and attention, each at its unit's rate
  double memory_seconds = 0;  // of the bytes
  double seconds() const;     // of the two, the larger
};

// Each tensor that a step writes is written once, however many launches write to it in a row, and
// read once, if anything reads it before it is written again; and so is what lay there before. What
// copies and casts write is not needed: others could read from where it came.
Floor FloorOf(const Works& works);

}  // namespace torus::ledger
