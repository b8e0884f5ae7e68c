// Stage: consecutive blocks that one rank runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "autograd/leaf_alias.h"
#include "autograd/low_copy.h"
#include "autograd/recompute.h"
#include "parallel/pipeline/block.h"

namespace torus::parallel {

class Stage {
 public:
  // `first_block`: the index of blocks.front() in the model, for messages. Throws BadInput without
  // blocks.
  Stage(std::vector<Block> blocks, int first_block);

  // Runs the blocks in order. `inputs`: the outputs of the stage before, then takes(). Returns the
  // last block's outputs, then stashes(). Adds the block's name and index to an exception.
  std::vector<Variable> Forward(const std::vector<Variable>& inputs,
                                const StepContext& context) const;

  // Block::takes and stashes, in block order, without those that stay within the stage.
  const std::vector<std::string>& takes() const { return takes_; }
  const std::vector<std::string>& stashes() const { return stashes_; }

  // All parameters in block order. A tied parameter has one entry per use, each a leaf of its own.
  std::vector<NamedVariable> Parameters() const;
  std::vector<NamedTensor> Buffers() const;  // in block order
  // Rounds the weights anew of which 16-bit copies were used before, all of a type by one `round`
  // (autograd/low_copy.h), instead of each at its next use.
  void RenewLowCopies(const FillCopies& round) const;
  // Moves parameters and buffers to `device`. Call before any forward.
  void MoveTo(Device device) const;
  // As Module::Share, of all blocks.
  void ShareStatistics(const torus::ShareStatistics& share) const;
  // As Module::EndMiniBatch, of all blocks.
  void EndMiniBatch(bool taken) const;
  double cost() const;                                                 // sum over the blocks
  int first_block() const { return first_block_; }                     // its index in the model
  int num_blocks() const { return static_cast<int>(blocks_.size()); }  // of this stage

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
