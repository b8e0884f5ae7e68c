// Finds, before step 0, the tensors that skip stages (Block::stashes and takes).
#pragma once

#include <string>
#include <vector>

#include "parallel/pipeline/block.h"
#include "parallel/pipeline/partition.h"

namespace torus::parallel {

// A tensor that one stage stashes and a later one takes, on the same rank or on another.
struct SkipConnection {
  std::string name;      // as blocks name it
  int from = 0, to = 0;  // stages
  friend bool operator==(const SkipConnection&, const SkipConnection&) = default;
};

// Returns the skip connections of a model with these cuts, in the order of the blocks that stash
// them. Those within one stage are left out. Throws BadInput, naming the blocks, if a name is
// stashed or taken twice, stashed and not taken, or taken by no later block.
std::vector<SkipConnection> FindSkipConnections(const std::vector<Block>& blocks, const Cuts& cuts);

}  // namespace torus::parallel
