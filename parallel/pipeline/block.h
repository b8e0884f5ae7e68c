// Block: the unit that a model hands to the pipeline. A model is a list of blocks; cuts fall
// between them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/precision.h"
#include "autograd/variable.h"
#include "runtime/share_statistics.h"
#include "runtime/step_context.h"
#include "runtime/tensor_split.h"

namespace torus::parallel {

struct Block {
  std::string name;  // "features.3"; stands in errors and in --describe
  // Computes a block's outputs from its inputs, the outputs of the block before, for one
  // micro-batch. There may be any number of both, of any types; floating-point inputs get
  // gradients. Random numbers must come from the context alone (runtime/rng.h), so that the same
  // step draws the same ones. Nothing of a micro-batch may be stored outside of the outputs' graph.
  //
  // Before step 0 it is called with inputs on the device meta, which have shapes and no memory, to
  // learn the shapes of its outputs. Ops do nothing there; code of its own that reads or writes
  // elements belongs inside AtDoor (runtime/door.h), and the outputs' shapes may not depend on it.
  std::function<std::vector<Variable>(const std::vector<Variable>&, const StepContext&)> forward;
  // Skip connections, by name: `forward` gives the tensors of `stashes`, in this order, behind its
  // outputs, and gets those of `takes` behind its inputs. Each name is stashed by one block and
  // taken by one later block, whose rank gets the tensor straight from the rank that made it, past
  // all cuts between (Kim et al. 2020, "torchgpipe"); its gradient goes back that way.
  std::vector<std::string> stashes, takes;
  // Leaves of the graph, under the model's names. A name that several blocks have is a tied weight:
  // each use accumulates a gradient of its own, and these are summed in block order, so that the
  // bits do not depend on the cut. The blocks may share one variable for it or have one each.
  std::vector<NamedVariable> parameters;
  // Those of them that tensor-parallel ranks split (TrainerOptions::tensor), and what keeps a
  // rank's slices, in place; called once, before any forward, on all blocks in their order. A block
  // that has none splits nothing and computes the same on every rank.
  std::vector<NamedSplit> splits;
  std::function<void(const TensorPlace& place)> split;
  std::vector<NamedTensor> buffers;  // state that is not trained: running statistics
  // Called once after the last micro-batch of a training step; may be empty. Batch norm then
  // updates its running statistics, or forgets the step's own where `taken` is false: the step was
  // skipped.
  std::function<void(bool taken)> end_mini_batch;
  // Called before that where a step was taken, on every replica alike, if running statistics are to
  // be those of all replicas' micro-batches: it hands what it has kept of its own to the function,
  // and keeps what comes back instead. May be empty.
  std::function<void(const ShareStatistics&)> share_statistics;
  // Estimate of the time of forward and backward of one sample, in one unit for the whole model.
  // Cuts are balanced by it.
  double cost = 1;
  // Whether the backward runs `forward` again instead of keeping its intermediate results
  // (activation checkpointing, autograd/recompute.h). `forward` must then give the same bits both
  // times, and statistics must count the micro-batch once.
  bool recompute = false;
  // The type in which activations are kept from forward to backward: kF32, or kBF16 for half the
  // memory (autograd/saved_activation.h). Without effect where `recompute` is set.
  DType activation_storage = DType::kF32;
  // In what `forward` computes products, convolutions and attention.
  Precision precision;
};

}  // namespace torus::parallel
