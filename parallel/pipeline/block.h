// Block: the unit that a model hands to the pipeline. A model is a list of blocks; cuts fall
// between them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "runtime/step_context.h"

namespace torus::parallel {

struct Block {
  std::string name;  // "features.3"; stands in errors and in --describe
  // Outputs of one micro-batch from its inputs (the previous block's outputs), of any number and
  // types; gradients go back to those that are floating. Draws random numbers by the context alone,
  // and keeps nothing of a micro-batch but what the graph of its outputs keeps.
  std::function<std::vector<Variable>(const std::vector<Variable>&, const StepContext&)> forward;
  // Leaves, under the model's names. A parameter that several blocks name is tied: one weight, each
  // of whose uses has a gradient of its own until all are summed in block order, so that the bits
  // do not depend on the cut. The blocks of a model may hold one variable for it, or a leaf each.
  std::vector<NamedVariable> parameters;
  std::vector<NamedTensor> buffers;  // state that is not trained: running statistics
  // Called once after the last micro-batch of a training step; may be empty. Batch norm commits its
  // statistics there; it drops them where `taken` is false, since the step was skipped.
  std::function<void(bool taken)> end_mini_batch;
  double cost =
      1;  // static estimate of forward and backward of one sample, in any unit common to the model
  // Whether the backward runs `forward` a second time instead of keeping what it made
  // (autograd/recompute.h). Then `forward` must give the same bits again and count a micro-batch
  // that comes twice once.
  bool recompute = false;
  // How the graph keeps activations between forward and backward, kF32 or kBF16
  // (autograd/saved_activation.h); of no effect where the backward recomputes them.
  DType activation_storage = DType::kF32;
};

}  // namespace torus::parallel
