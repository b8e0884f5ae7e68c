// Which tensors skip stages (Block::stashes and takes), found before step 0.
#pragma once

#include <string>
#include <vector>

#include "parallel/pipeline/block.h"
#include "parallel/pipeline/partition.h"

namespace torus::parallel {

// A tensor that one stage stashes and a later one takes, on the same rank or on another.
struct SkipConnection {
  std::string name;
  int from = 0, to = 0;  // stages
  friend bool operator==(const SkipConnection&, const SkipConnection&) = default;
};

// Those of a model that is cut in this way, in the order of the blocks that stash them; those whose
// two blocks lie in one stage are left out. BadInput that names the blocks, where a name is stashed
// or taken twice, stashed and not taken, or taken by no later block.
std::vector<SkipConnection> FindSkipConnections(const std::vector<Block>& blocks, const Cuts& cuts);

}  // namespace torus::parallel
