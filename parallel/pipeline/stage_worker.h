// StageWorker: runs the forwards and backwards of one stage, for several micro-batches at a time.
// It knows nothing of other ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "autograd/backward.h"
#include "parallel/pipeline/stage.h"

namespace torus::parallel {

// Mean loss of one micro-batch, a variable of one element.
using LossFn = std::function<Variable(const std::vector<Variable>& outputs,
                                      const std::vector<Tensor>& targets)>;

class StageWorker {
 public:
  // `first`: whether this is stage 0, whose inputs are data and get no gradient. `loss`: that of
  // the last stage; null for the others. `slots`: how many micro-batches may be between their
  // forward and their backward. `stage` must outlive the worker.
  StageWorker(Stage& stage, bool first, const LossFn* loss, int slots);

  // What a forward of the last stage needs besides its inputs.
  struct Target {
    std::vector<Tensor> tensors;
    double weight = 1;  // of this micro-batch in the loss of the global mini-batch
  };

  // Runs the stage on a micro-batch, which has `slot` until its backward. With context.training the
  // graph is kept until then, otherwise none is recorded. Returns the outputs; the last stage
  // returns nothing and adds to loss().
  std::vector<Tensor> Forward(size_t slot, std::vector<Tensor> inputs, const Target& target,
                              const StepContext& context);
  // Accumulates the parameters' gradients from those of the outputs (empty for the last stage) and
  // returns those of the inputs: one each, undefined where none flows. Frees the slot.
  std::vector<Tensor> Backward(size_t slot, const std::vector<Tensor>& output_grads);
  // The same in two halves: the first returns the gradients of the inputs, the second accumulates
  // those of the parameters and frees the slot.
  std::vector<Tensor> BackwardInput(size_t slot, const std::vector<Tensor>& output_grads);
  void BackwardWeight(size_t slot);

  Stage& stage() { return stage_; }
  double loss() const { return loss_; }  // weighted sum over the forwards since ResetLoss
  void ResetLoss() { loss_ = 0; }

 private:
  struct InFlight {
    std::vector<Variable> inputs;
    std::vector<Variable> outputs;  // of the last stage: the loss
    double weight = 1;
    DeferredGradients deferred;
  };
  std::vector<Variable> Leaves(std::vector<Tensor> inputs, bool training) const;
  Variable AddLoss(const std::vector<Variable>& outputs, const Target& target);
  std::vector<Tensor> RunBackward(size_t slot, const std::vector<Tensor>& output_grads, bool defer);

  Stage& stage_;
  bool first_;
  const LossFn* loss_fn_;
  std::vector<InFlight> in_flight_;  // one a slot
  double loss_ = 0;
};

}  // namespace torus::parallel
