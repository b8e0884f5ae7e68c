#include "parallel/pipeline/stage.h"

#include <set>
#include <utility>

#include "autograd/saved_activation.h"
#include "parallel/pipeline/add_context.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

std::vector<Variable> ParametersOf(const Block& block) {
  std::vector<Variable> parameters;
  for (const NamedVariable& parameter : block.parameters) parameters.push_back(parameter.value);
  return parameters;
}

}  // namespace

Stage::Stage(std::vector<Block> blocks, int first_block)
    : blocks_(std::move(blocks)), first_block_(first_block) {
  Require(!blocks_.empty(), "stage", "needs at least one block");
  for (size_t i = 0; i < blocks_.size(); ++i) {
    Require(blocks_[i].forward != nullptr, "stage", "block {} ({}) has no forward",
            first_block_ + static_cast<int>(i), blocks_[i].name);
  }
  GiveEachUseALeaf();
}

// A variable that an earlier block has too is replaced by an alias, so that each use accumulates a
// gradient of its own.
void Stage::GiveEachUseALeaf() {
  std::set<const void*> seen;
  for (Block& block : blocks_) {
    LeafAliases& aliases = aliases_.emplace_back();
    for (NamedVariable& parameter : block.parameters) {
      if (seen.insert(parameter.value.id()).second) continue;
      const Variable alias(parameter.value.data(), parameter.value.requires_grad());
      aliases.emplace_back(std::exchange(parameter.value, alias), alias);
    }
  }
}

RecomputeFn Stage::RunOf(size_t i, const StepContext& context) const {
  return [&block = blocks_[i], aliases = aliases_[i], context](const std::vector<Variable>& x) {
    const LeafAlias scope(aliases);
    return block.forward(x, context);
  };
}

std::vector<Variable> Stage::Forward(const std::vector<Variable>& inputs,
                                     const StepContext& context) const {
  std::vector<Variable> values = inputs;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    try {
      if (block.recompute && context.training) {
        values = Recompute(RunOf(i, context), values, ParametersOf(block));
      } else {
        const LeafAlias scope(aliases_[i]);
        const ActivationStorage storage(block.activation_storage);
        values = block.forward(values, context);
      }
    } catch (...) {
      RethrowWithContext(
          fmt::format("block {} ({})", first_block_ + static_cast<int>(i), block.name));
    }
  }
  return values;
}

std::vector<NamedVariable> Stage::Parameters() const {
  std::vector<NamedVariable> all;
  for (const Block& block : blocks_) {
    all.insert(all.end(), block.parameters.begin(), block.parameters.end());
  }
  return all;
}

std::vector<NamedTensor> Stage::Buffers() const {
  std::vector<NamedTensor> all;
  for (const Block& block : blocks_) {
    all.insert(all.end(), block.buffers.begin(), block.buffers.end());
  }
  return all;
}

void Stage::ShareStatistics(const torus::ShareStatistics& share) const {
  for (const Block& block : blocks_)
    if (block.share_statistics) block.share_statistics(share);
}

void Stage::EndMiniBatch(bool taken) const {
  for (const Block& block : blocks_) {
    if (block.end_mini_batch) block.end_mini_batch(taken);
  }
}

double Stage::cost() const {
  double sum = 0;
  for (const Block& block : blocks_) sum += block.cost;
  return sum;
}

}  // namespace torus::parallel
