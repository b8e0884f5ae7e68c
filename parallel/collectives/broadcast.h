// Broadcast: copies one rank's bytes to all ranks.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Copies `data` of rank `root` to every rank along a pipelined binary tree (tree.h; sources in
// reduce.h): a rank forwards each piece to its children as soon as it has arrived. Each rank sends
// the span to its 0 to 2 children; it is sent n - 1 times in all. All ranks give spans of the same
// size. `what` appears in errors ("..., broadcast").
void Broadcast(Transport& transport, std::span<std::byte> data, int root, const std::string& what);

}  // namespace torus::parallel
