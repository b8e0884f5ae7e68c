// Stage: consecutive blocks that one rank runs.
#pragma once

#include <vector>

#include "autograd/leaf_alias.h"
#include "autograd/recompute.h"
#include "parallel/pipeline/block.h"

namespace torus::parallel {

class Stage {
 public:
  // `first_block`: the index in the model of blocks.front(), for messages. BadInput without blocks.
  Stage(std::vector<Block> blocks, int first_block);

  // Runs the blocks in order. An exception leaves with the name and index of its block added.
  std::vector<Variable> Forward(const std::vector<Variable>& inputs,
                                const StepContext& context) const;

  // In block order, the uses of a tied parameter each: every one is a leaf of its own.
  std::vector<NamedVariable> Parameters() const;
  std::vector<NamedTensor> Buffers() const;
  void ShareStatistics(const torus::ShareStatistics& share) const;
  void EndMiniBatch(bool taken) const;
  double cost() const;  // sum over the blocks
  int first_block() const { return first_block_; }
  int num_blocks() const { return static_cast<int>(blocks_.size()); }

 private:
  RecomputeFn RunOf(size_t block, const StepContext& context) const;
  void GiveEachUseALeaf();

  std::vector<Block> blocks_;
  std::vector<LeafAliases> aliases_;  // of each block
  int first_block_;
};

}  // namespace torus::parallel
