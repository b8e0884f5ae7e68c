// All-to-all: every rank has a block for every rank.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Called by every rank of `transport` (n ranks) with spans of n blocks of equal size, the same on
// all: block j of `send` on rank i becomes block i of `receive` on rank j. The two spans are apart
// from each other. BadInput where their sizes differ or are no multiple of n.
//
// All n - 1 messages of a rank are under way at once, the k-th to rank + k, so that no rank is the
// first of all others (as MPICH's for medium messages; Thakur, Rabenseifner and Gropp 2005, section
// 4.4). Each rank sends n - 1 blocks. `what` stands in the errors.
void AllToAll(Transport& transport, std::span<const std::byte> send, std::span<std::byte> receive,
              const std::string& what);

}  // namespace torus::parallel
