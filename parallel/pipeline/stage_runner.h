// StageRunner: one stage of this rank: its micro-batches between forward and backward, its tensors
// between two actions, and its links to stages on other ranks. The Executor calls it, action by
// action.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "autograd/backward.h"
#include "parallel/pipeline/link_codecs.h"
#include "parallel/pipeline/loss_fn.h"
#include "parallel/pipeline/loss_terms.h"
#include "parallel/pipeline/mini_batch.h"
#include "parallel/pipeline/stage.h"
#include "parallel/pipeline/stage_skips.h"
#include "parallel/pipeline/tensor_link.h"
#include "parallel/schedule/schedule.h"

namespace torus::parallel {

class StageRunner {
 public:
  // `number`: of the stage; the inputs of stage 0 are data and get no gradient. `loss`: that of the
  // last stage; null for the others. `slots`: how many micro-batches may be under way. `stage` and
  // `loss` must outlive the runner.
  StageRunner(Stage& stage, int number, const LossFn* loss, int slots);
  StageRunner(const StageRunner&) = delete;
  StageRunner& operator=(const StageRunner&) = delete;

  // The stages before and after this one: on this rank, or else the rank that runs it; neither
  // where there is no such stage.
  struct Neighbour {
    StageRunner* here = nullptr;
    int rank = -1;
  };
  struct Neighbours {
    Transport* transport = nullptr;
    Neighbour before, after;
    // Of what crosses the cut before this stage, and behind it.
    LinkCodecs codecs_before, codecs_after;
    EncoderThread* encoder = nullptr;  // where the rank has one
    Device device = {};                // where the rank computes
    int64_t warmup = 0;                // TensorLink::Options::warmup
    std::string samples_folder = {};   // TensorLink::Options::samples_folder
    Transport* sharers = nullptr;      // TensorLink::Options::sharers
  };
  // Makes the links along the cuts, with buffers for the inputs and outputs of the largest
  // micro-batch; what skips stages has links of its own.
  void Connect(const Neighbours& neighbours, const std::vector<TensorSpec>& inputs,
               const std::vector<TensorSpec>& outputs);

  // Begins a mini-batch: the loss is 0, finite() true, and of no micro-batch there is a graph, also
  // where the one before was broken off.
  void Begin();
  // What a micro-batch's loss is multiplied by: its share in that of the global mini-batch, and,
  // for the gradients alone, a scale.
  struct LossFactors {
    double weight = 1, scale = 1;
  };
  // Runs the stage on a micro-batch, which has `slot` until its backward. With context.training the
  // graph is kept until the backward, otherwise none is recorded. The last stage adds to loss().
  void Forward(size_t slot, const MicroBatch& data, const LossFactors& loss,
               const StepContext& context);
  // Accumulates the parameters' gradients and makes those of the inputs, where any flow; frees the
  // slot. `inputs_only`: the first half alone, which BackwardWeight completes.
  void Backward(size_t slot, bool inputs_only);
  void BackwardWeight(size_t slot);
  // Starts the receive `kind` before its turn; false where its link has started enough.
  bool Expect(ActionKind kind, size_t slot, const std::string& what);
  // Goes on with the receives that have been started.
  void Advance();
  // Throws what the encoder's thread has thrown. `wait`: until it has done all.
  void CheckSent(bool wait);
  // Sends what was made or receives what is needed; `kind` is that of a send or receive.
  // `when`: for the codecs.
  void Transfer(ActionKind kind, size_t slot, const std::string& what, RankTotals& totals,
                const CodecContext& when);
  // Blocks until everything sent has been received.
  void Flush(RankTotals& totals);

  // Its links, and those of what skips stages.
  std::vector<TensorLink*> Links();

  Stage& stage() { return stage_; }
  // What the stage takes and stashes must be there before, and goes on its way behind, each Forward
  // and Backward.
  StageSkips& skips() { return skips_; }
  const StageSkips& skips() const { return skips_; }
  // Weighted sum over the forwards since Begin, in a tree over the micro-batches
  // (runtime/binary_counter.h), whatever the schedule. Waits for the device, once.
  double loss() const;
  // What that is the sum of; SetLosses: those of a step that was computed as a graph.
  const LossTerms& losses() const { return losses_; }
  void SetLosses(LossTerms losses) { losses_ = std::move(losses); }
  // Whether the loss, and every tensor sent or received through a codec since Begin, are finite.
  bool finite() const;
  // Null where the stage sends none.
  const TensorLink* activations_sent() const {
    return activation_out_ ? &*activation_out_ : nullptr;
  }
  const TensorLink* gradients_sent() const { return gradient_out_ ? &*gradient_out_ : nullptr; }

 private:
  using Tensors = std::vector<Tensor>;
  struct InFlight {
    std::vector<Variable> inputs;
    std::vector<Variable> outputs;  // of the last stage: the loss
    double seed = 1;                // the gradient of the loss
    DeferredGradients deferred;
  };
  std::vector<Variable> Leaves(Tensors inputs, bool training) const;
  Variable AddLoss(const std::vector<Variable>& outputs, const Tensors& targets, double weight,
                   const StepContext& context);
  Tensors RunBackward(InFlight& flight, const Tensors& output_grads, bool defer);

  Stage& stage_;
  const int number_;
  const LossFn* loss_fn_;
  StageRunner *before_ = nullptr, *after_ = nullptr;  // on this rank
  // One entry for each slot.
  std::vector<InFlight> in_flight_;
  std::vector<Tensors> inputs_, outputs_, output_grads_, input_grads_;
  StageSkips skips_;
  std::optional<TensorLink> activation_in_, activation_out_, gradient_in_, gradient_out_;
  LossTerms losses_;
};

}  // namespace torus::parallel
