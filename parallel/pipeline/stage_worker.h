// StageWorker: one stage at work on several micro-batches at once. It knows gradients, not ranks.
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
  // `first`: the inputs are data and want no gradient. `loss`: of the last stage; null for others.
  // `slots`: how many micro-batches may be alive at once. `stage` must outlive the worker.
  StageWorker(Stage& stage, bool first, const LossFn* loss, int slots);

  // What a forward of the last stage needs besides its inputs.
  struct Target {
    std::vector<Tensor> tensors;
    double weight = 1;  // of this micro-batch in the loss of the global mini-batch
  };

  // Runs the stage. While context.training it keeps the graph until the backward, otherwise it
  // records none. Returns the outputs; of the last stage nothing, its loss is added to loss().
  std::vector<Tensor> Forward(size_t slot, std::vector<Tensor> inputs, const Target& target,
                              const StepContext& context);
  // Accumulates the parameters' gradients from those of the outputs (empty for the last stage) and
  // returns those of the inputs: one each, undefined where none flows. Frees the slot.
  std::vector<Tensor> Backward(size_t slot, const std::vector<Tensor>& output_grads);
  // The two halves of it: the first returns the gradients of the inputs, the second accumulates.
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
