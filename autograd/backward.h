// Backward: computes the gradients of a graph, given the gradients of its outputs.
#pragma once

#include <memory>
#include <vector>

#include "autograd/variable.h"

namespace torus {

// How a backward runs.
struct BackwardOptions {
  bool retain_graph = false;  // keep the saved tensors, so that Backward can run again
  // Do not compute the leaves' gradients now; DeferredGradients::Run does it later, as zero-bubble
  // schedules need. Gradients of the variables in `wanted` are always computed now.
  bool defer_leaves = false;
  // Leaves whose gradients are returned instead of accumulated into grad(), such as a stage's
  // inputs.
  std::vector<Variable> wanted = {};
};

// The deferred second half of a backward: the gradients of the leaves. Keeps the saved tensors that
// it needs alive until it has run.
class DeferredGradients {
 public:
  // Whether nothing was deferred.
  bool empty() const { return work_ == nullptr; }
  // Computes and accumulates the leaves' gradients and calls their hooks. Throws BadInput when
  // called a second time.
  void Run();

 private:
  friend struct BackwardEngine;
  struct Work;
  std::shared_ptr<Work> work_;
};

// What a backward returns besides the gradients that it accumulates.
struct BackwardResult {
  std::vector<Tensor> wanted;  // one for each of options.wanted; undefined if no path leads to it
  DeferredGradients deferred;  // empty without defer_leaves
};

// Adds to the gradient of every leaf that `outputs` depend on: leaf.grad() += sum_i d outputs[i] /
// d leaf * grads[i].
//
// `grads` has one tensor for each output, of the same shape and dtype. That of an output of one
// element may be undefined, and if all are it may be empty; the seed is then 1. The order of
// sums is fixed: nodes run from the one created last to the one created first, and contributions
// are added in that order, so equal graphs give equal bits. Throws BadInput if a graph is run
// twice without retain_graph, if a seed has another shape or dtype, or if an output does not
// depend on any leaf with requires_grad. Different graphs may run on different threads at the
// same time.
BackwardResult Backward(const std::vector<Variable>& outputs, const std::vector<Tensor>& grads = {},
                        const BackwardOptions& options = {});
// The same of one output of one element.
inline BackwardResult Backward(const Variable& output, const BackwardOptions& options = {}) {
  return Backward(std::vector<Variable>{output}, {}, options);
}

}  // namespace torus
