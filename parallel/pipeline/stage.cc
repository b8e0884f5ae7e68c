#include "parallel/pipeline/stage.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "autograd/node.h"
#include "autograd/precision.h"
#include "autograd/saved_activation.h"
#include "parallel/pipeline/add_context.h"
#include "parallel/pipeline/take_last.h"
#include "runtime/batched_work.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

std::vector<Variable> ParametersOf(const Block& block) {
  std::vector<Variable> parameters;
  for (const NamedVariable& parameter : block.parameters) parameters.push_back(parameter.value);
  return parameters;
}

// Gives each output a node of its own, so that the gradients of its uses are summed first, in the
// same order whether there is a cut or not.
std::vector<Variable> Apart(std::vector<Variable> outputs) {
  for (Variable& output : outputs)
    if (output.defined() && output.requires_grad())
      output = Record("stash", output.data(), {output},
                      [](const GradContext& g) { return Gradients{g.grad()}; });
  return outputs;
}

Variable TakeFrom(std::map<std::string, Variable>& aside, const std::string& name) {
  const auto at = aside.extract(name);
  Require(!at.empty(), "stage", "{} is taken, but not stashed before", name);
  return at.mapped();
}

}  // namespace

Stage::Stage(std::vector<Block> blocks, int first_block)
    : blocks_(std::move(blocks)), first_block_(first_block) {
  Require(!blocks_.empty(), "stage", "needs at least one block");
  for (size_t i = 0; i < blocks_.size(); ++i) {
    Require(blocks_[i].forward != nullptr, "stage", "block {} ({}) has no forward",
            first_block_ + static_cast<int>(i), blocks_[i].name);
  }
  ListSkips();
  GiveEachUseALeaf();
}

void Stage::ListSkips() {
  for (const Block& block : blocks_) {
    for (const std::string& name : block.takes)
      if (std::erase(stashes_, name) == 0) takes_.push_back(name);
    stashes_.insert(stashes_.end(), block.stashes.begin(), block.stashes.end());
  }
}

// Replaces a variable that an earlier block also has by an alias, so that each use accumulates its
// own gradient.
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
    const WithPrecision precision(block.precision);
    return block.forward(x, context);
  };
}

// Removes the taken tensors from the end of `inputs` and returns them by name.
Stage::Aside Stage::SplitTaken(std::vector<Variable>& inputs) const {
  Require(inputs.size() >= takes_.size(), "stage",
          "takes {} tensors that skip ({}), got {} inputs in all", takes_.size(),
          fmt::join(takes_, ", "), inputs.size());
  Aside aside;
  const std::vector<Variable> taken = TakeLast(inputs, takes_.size());
  for (size_t i = 0; i < taken.size(); ++i) aside[takes_[i]] = taken[i];
  return aside;
}

std::vector<Variable> Stage::Stash(const Block& block, std::vector<Variable> outputs,
                                   Aside& aside) {
  Require(outputs.size() >= block.stashes.size(), "stage",
          "stashes {} tensors behind its outputs, gave {} in all", block.stashes.size(),
          outputs.size());
  outputs = Apart(std::move(outputs));
  const std::vector<Variable> stashed = TakeLast(outputs, block.stashes.size());
  for (size_t i = 0; i < stashed.size(); ++i) aside[block.stashes[i]] = stashed[i];
  return outputs;
}

std::vector<Variable> Stage::Forward(const std::vector<Variable>& inputs,
                                     const StepContext& context) const {
  std::vector<Variable> values = inputs;
  Aside aside = SplitTaken(values);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    try {
      for (const std::string& name : block.takes) values.push_back(TakeFrom(aside, name));
      if (block.recompute && context.training) {
        values = Recompute(RunOf(i, context), values, ParametersOf(block));
      } else {
        const LeafAlias scope(aliases_[i]);
        const ActivationStorage storage(block.activation_storage);
        const WithPrecision precision(block.precision);
        values = block.forward(values, context);
      }
      if (!block.stashes.empty()) values = Stash(block, std::move(values), aside);
    } catch (...) {
      RethrowWithContext(
          fmt::format("block {} ({})", first_block_ + static_cast<int>(i), block.name));
    }
  }
  for (const std::string& name : stashes_) values.push_back(TakeFrom(aside, name));
  return values;
}

std::vector<NamedVariable> Stage::Parameters() const {
  std::vector<NamedVariable> all;
  for (const Block& block : blocks_) {
    all.insert(all.end(), block.parameters.begin(), block.parameters.end());
  }
  return all;
}

void Stage::RenewLowCopies(const FillCopies& round) const {
  for (const DType low : {DType::kBF16, DType::kF16}) {
    std::vector<Variable> leaves;
    for (const Block& block : blocks_)
      for (const NamedVariable& parameter : block.parameters)
        if (block.precision.low == low) leaves.push_back(parameter.value);
    torus::RenewLowCopies(leaves, low, round);
  }
}

std::vector<NamedTensor> Stage::Buffers() const {
  std::vector<NamedTensor> all;
  for (const Block& block : blocks_) {
    all.insert(all.end(), block.buffers.begin(), block.buffers.end());
  }
  return all;
}

void Stage::MoveTo(Device device) const {
  for (const NamedVariable& parameter : Parameters()) MoveMemory(parameter.value.data(), device);
  for (const NamedTensor& buffer : Buffers()) MoveMemory(buffer.value, device);
}

void Stage::ShareStatistics(const torus::ShareStatistics& share) const {
  for (const Block& block : blocks_)
    if (block.share_statistics) block.share_statistics(share);
}

// The running statistics of all layers are updated in one launch.
void Stage::EndMiniBatch(bool taken) const {
  BatchedWork together;
  for (const Block& block : blocks_) {
    if (block.end_mini_batch) block.end_mini_batch(taken);
  }
  together.Finish();
}

double Stage::cost() const {
  double sum = 0;
  for (const Block& block : blocks_) sum += block.cost;
  return sum;
}

}  // namespace torus::parallel
