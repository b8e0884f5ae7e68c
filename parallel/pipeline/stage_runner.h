// StageRunner: runs one stage of this rank, action by action, for the Executor. It holds the
// micro-batches between forward and backward, the tensors between two actions, and the links to
// stages on other ranks.
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
  // `number`: of the stage; the inputs of stage 0 are data and get no gradient. `loss`: for the
  // last stage; null for the others. `slots`: the most micro-batches in flight. `stage` and `loss`
  // must outlive the runner.
  StageRunner(Stage& stage, int number, const LossFn* loss, int slots);
  StageRunner(const StageRunner&) = delete;
  StageRunner& operator=(const StageRunner&) = delete;

  // A stage before or after this one: its runner if it is on this rank, else the rank that runs it;
  // neither if there is no such stage.
  struct Neighbour {
    StageRunner* here = nullptr;  // on this rank
    int rank = -1;
  };
  // What Connect is told.
  struct Neighbours {
    Transport* transport = nullptr;  // of the pipeline
    Neighbour before, after;         // in the model
    // For the cuts before and after this stage.
    LinkCodecs codecs_before, codecs_after;
    std::string place_before, place_after;  // TensorLink::Options::place
    EncoderThread* encoder = nullptr;       // null if the rank has none
    Device device = {};                     // where the rank computes
    int64_t warmup = 0;                     // TensorLink::Options::warmup
    std::string samples_folder = {};        // TensorLink::Options::samples_folder
    Transport* sharers = nullptr;           // TensorLink::Options::sharers
  };
  // Makes the links to the neighbours, with buffers for the inputs and outputs of the largest
  // micro-batch. Skip connections have links of their own.
  void Connect(const Neighbours& neighbours, const std::vector<TensorSpec>& inputs,
               const std::vector<TensorSpec>& outputs);

  // Begins a mini-batch: sets the loss to 0 and finite() to true, and drops graphs left by an
  // aborted mini-batch.
  void Begin();
  // The factors of a micro-batch's loss: its weight in the loss of the global mini-batch, and a
  // scale that acts on the gradients only.
  struct LossFactors {
    double weight = 1, scale = 1;
  };
  // Runs the stage on a micro-batch, which keeps `slot` until its backward. With context.training
  // the graph is kept until the backward; otherwise none is recorded. The last stage adds to
  // loss().
  void Forward(size_t slot, const MicroBatch& data, const LossFactors& loss,
               const StepContext& context);
  // Accumulates the parameters' gradients, computes those of the inputs if there are any, and frees
  // the slot. `inputs_only`: only the first half, which BackwardWeight completes.
  void Backward(size_t slot, bool inputs_only);
  void BackwardWeight(size_t slot);
  // Starts the receive `kind` ahead of its turn. Returns false if its link has already started as
  // many as it may.
  bool Expect(ActionKind kind, size_t slot, const std::string& what);
  // Continues the receives that have been started.
  void Advance();
  // Rethrows what the encoder thread has thrown. `wait`: first waits until it has done all its
  // jobs.
  void CheckSent(bool wait);
  // Sends or receives the tensors of the action `kind`, a send or receive. `when`: for the codecs.
  void Transfer(ActionKind kind, size_t slot, const std::string& what, RankTotals& totals,
                const CodecContext& when);
  // Blocks until everything sent has been received.
  void Flush(RankTotals& totals);

  // Its links, including those of skip connections.
  std::vector<TensorLink*> Links();

  Stage& stage() { return stage_; }  // which it runs
  // The stage's skip connections: call Receive on them before each Forward and Backward, and Send
  // after it.
  StageSkips& skips() { return skips_; }
  const StageSkips& skips() const { return skips_; }
  // Weighted sum of the losses since Begin, in a tree over the micro-batches
  // (runtime/binary_counter.h), whatever the schedule. Waits for the device once.
  double loss() const;
  // The terms of loss(). SetLosses sets those of a step that was computed as a graph.
  const LossTerms& losses() const { return losses_; }
  void SetLosses(LossTerms losses) { losses_ = std::move(losses); }
  // Whether the loss, and every tensor sent or received through a codec since Begin, are finite.
  bool finite() const;
  // Null if the stage sends none.
  const TensorLink* activations_sent() const {
    return activation_out_ ? &*activation_out_ : nullptr;
  }
  // Likewise.
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
