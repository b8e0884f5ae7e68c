// Backward: a plain call over the graph that hangs from some outputs.
#pragma once

#include <memory>
#include <vector>

#include "autograd/variable.h"

namespace torus {

struct BackwardOptions {
  bool retain_graph = false;  // keep what the rules saved, for another Backward
  // Leave the gradients of leaves for DeferredGradients::Run, as zero-bubble schedules need.
  // Gradients of the variables in `wanted` are never left.
  bool defer_leaves = false;
  // Leaves whose gradients are to be returned instead of accumulated into grad() (a stage's
  // inputs).
  std::vector<Variable> wanted;
};

// The leaves' half of a backward, to be run once, later; holds what its rules saved until then.
class DeferredGradients {
 public:
  bool empty() const { return work_ == nullptr; }
  // Computes and accumulates the leaves' gradients and calls their hooks. BadInput the second time.
  void Run();

 private:
  friend struct BackwardEngine;
  struct Work;
  std::shared_ptr<Work> work_;
};

struct BackwardResult {
  std::vector<Tensor> wanted;  // one each of options.wanted; undefined where no path leads to it
  DeferredGradients deferred;
};

// Accumulates into every leaf that `outputs` depend on: leaf.grad() += sum_i d outputs[i] / d leaf
// * grads[i].
//
// `grads` has one tensor an output, of its shape and dtype; it may be empty when every output has
// one element (seed 1). Order of sums is fixed: nodes run from the last made to the first, and
// contributions add in that order, so equal graphs give equal bits. Errors (BadInput): a graph run
// twice without retain_graph, a seed of another shape or dtype, an output that no leaf with
// requires_grad leads to. Different graphs may run on different threads at once.
BackwardResult Backward(const std::vector<Variable>& outputs, const std::vector<Tensor>& grads = {},
                        const BackwardOptions& options = {});

}  // namespace torus
