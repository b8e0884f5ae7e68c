// Stage: consecutive blocks that one rank runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "autograd/leaf_alias.h"
#include "autograd/recompute.h"
#include "parallel/pipeline/block.h"

namespace torus::parallel {

class Stage {
 public:
  // `first_block`: the index in the model of blocks.front(), for messages. BadInput without blocks.
  Stage(std::vector<Block> blocks, int first_block);

  // Runs the blocks in order. `inputs`: the outputs of the stage before, then takes(); what comes
  // back are the last block's outputs, then stashes(). An exception leaves with the name and index
  // of its block added.
  std::vector<Variable> Forward(const std::vector<Variable>& inputs,
                                const StepContext& context) const;

  // Block::takes and stashes, in block order, of what its own blocks do not have among themselves.
  const std::vector<std::string>& takes() const { return takes_; }
  const std::vector<std::string>& stashes() const { return stashes_; }

  // In block order, the uses of a tied parameter each: every one is a leaf of its own.
  std::vector<NamedVariable> Parameters() const;
  std::vector<NamedTensor> Buffers() const;
  // Moves the memory of parameters and buffers to `device`; before any forward.
  void MoveTo(Device device) const;
  void ShareStatistics(const torus::ShareStatistics& share) const;
  void EndMiniBatch(bool taken) const;
  double cost() const;  // sum over the blocks
  int first_block() const { return first_block_; }
  int num_blocks() const { return static_cast<int>(blocks_.size()); }

 private:
  using Aside = std::map<std::string, Variable>;

  void ListSkips();
  Aside SplitTaken(std::vector<Variable>& inputs) const;
  static std::vector<Variable> Stash(const Block& block, std::vector<Variable> outputs,
                                     Aside& aside);
  RecomputeFn RunOf(size_t block, const StepContext& context) const;
  void GiveEachUseALeaf();

  std::vector<Block> blocks_;
  std::vector<LeafAliases> aliases_;  // of each block
  std::vector<std::string> takes_, stashes_;
  int first_block_;
};

}  // namespace torus::parallel
