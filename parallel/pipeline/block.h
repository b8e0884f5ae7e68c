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
  std::string name = {};  // "features.3"; used in errors and in --describe
  // Computes the block's outputs for one micro-batch from its inputs, which are the outputs of the
  // block before. There may be any number of both, of any types; floating-point inputs get
  // gradients. Random numbers must come from the context only (runtime/rng.h), so that the same
  // step draws the same ones. Nothing of a micro-batch may be stored outside the outputs' graph.
  //
  // Before step 0 it is called with inputs on the device meta, which have shapes but no memory, to
  // learn the shapes of its outputs. Ops compute nothing there. Code of your own that reads or
  // writes elements belongs inside Dispatch (runtime/dispatch.h), and the outputs' shapes may not
  // depend on it.
  std::function<std::vector<Variable>(const std::vector<Variable>&, const StepContext&)> forward =
      {};
  // Skip connections, by name. `forward` returns the tensors of `stashes`, in this order, after its
  // outputs, and receives those of `takes` after its inputs. Each name is stashed by one block and
  // taken by one later block. The tensor goes directly from the rank that made it to the rank that
  // takes it, past all stages between (Kim et al. 2020, "torchgpipe"); its gradient goes back the
  // same way.
  std::vector<std::string> stashes = {}, takes = {};
  // Leaves of the graph, under the model's names. A name that occurs in several blocks is a tied
  // weight: each use accumulates its own gradient, and these are summed in block order, so that the
  // bits do not depend on the cut. The blocks may share one variable for it or have one each.
  std::vector<NamedVariable> parameters = {};
  // The parameters that tensor-parallel ranks split (TrainerOptions::tensor), and the function that
  // reduces them, in place, to a rank's slices. It is called once on all blocks in order, before
  // any forward. A block without `splits` computes the same on every rank.
  std::vector<NamedSplit> splits = {};
  std::function<void(const TensorPlace& place)> split = {};
  std::vector<NamedTensor> buffers = {};  // state that is not trained: running statistics
  // Called once after the last micro-batch of a training step; may be empty. Batch norm then
  // updates its running statistics, or drops those of the step if it was skipped (`taken` is
  // false).
  std::function<void(bool taken)> end_mini_batch = {};
  // Called before end_mini_batch if the step was taken, on every replica, if running statistics are
  // to cover the micro-batches of all replicas: it passes the statistics it has kept to the
  // function, and keeps what comes back instead. May be empty.
  std::function<void(const ShareStatistics&)> share_statistics = {};
  // Estimated time of forward and backward of one sample, in one unit for the whole model. Used to
  // balance the cuts.
  double cost = 1;
  // Whether the backward runs `forward` again instead of keeping its intermediate results
  // (activation checkpointing, autograd/recompute.h). `forward` must then give the same bits both
  // times, and statistics must count the micro-batch once.
  bool recompute = false;
  // The type in which activations are kept from forward to backward: kF32, or kBF16 for half the
  // memory (autograd/saved_activation.h). Has no effect if `recompute` is set.
  DType activation_storage = DType::kF32;
  // The precision in which `forward` computes products, convolutions and attention.
  Precision precision = {};
};

}  // namespace torus::parallel
