// All-to-all: every rank sends a block to every rank.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Every rank of `transport` (n ranks) calls it with spans of n equal blocks, of the same size on
// all ranks: block j of `send` on rank i becomes block i of `receive` on rank j. The two spans must
// not overlap. Throws BadInput if their sizes differ or are not a multiple of n.
//
// All n - 1 messages of a rank are in flight at once. The k-th goes to rank + k, so that the ranks
// do not all send to the same one first (as MPICH does for medium messages; Thakur, Rabenseifner
// and Gropp 2005, section 4.4). Each rank sends n - 1 blocks. `what` appears in errors.
void AllToAll(Transport& transport, std::span<const std::byte> send, std::span<std::byte> receive,
              const std::string& what);

}  // namespace torus::parallel
