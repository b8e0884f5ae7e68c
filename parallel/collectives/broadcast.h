// Broadcast: copies one rank's bytes to all ranks.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Copies `data` of rank `root` to every rank along a pipelined binary tree (tree.h; reduce.h has
// the source): each piece goes on to a rank's children as soon as it has come. Each rank sends the
// span to its children, 0 to 2 of them, n - 1 times in all. All ranks give spans of one size.
// `what` stands in the errors ("..., broadcast").
void Broadcast(Transport& transport, std::span<std::byte> data, int root, const std::string& what);

}  // namespace torus::parallel
