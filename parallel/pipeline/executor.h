// Executor: runs a rank's list of actions, whatever schedule it belongs to.
//
//   Executor executor(transport, MakeSchedule("gpipe", {2, 4}), stages of this rank, options);
//   executor.AgreeOnShapes(input specs of the largest micro-batch);
//   for (...) StepResult r = executor.Run(mini_batch, RunMode::kTrain);
//
// A pipeline of one stage is the same without sends and receives. Exceptions keep their kind;
// action, rank, stage, step and micro-batch are added to their message.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parallel/pipeline/action_clock.h"
#include "parallel/pipeline/codec_state.h"
#include "parallel/pipeline/encoder_thread.h"
#include "parallel/pipeline/executor_options.h"
#include "parallel/pipeline/mini_batch.h"
#include "parallel/pipeline/rank_totals.h"
#include "parallel/pipeline/spec_exchange.h"
#include "parallel/pipeline/stage.h"
#include "parallel/pipeline/stage_runner.h"
#include "parallel/pipeline/stage_skips.h"
#include "parallel/pipeline/step_graph.h"
#include "parallel/pipeline/tensor_header.h"
#include "parallel/schedule/schedule.h"
#include "parallel/transport/transport.h"
#include "runtime/deferred_checks.h"

namespace torus::parallel {

// The bytes that this rank has sent across one cut, or for one skip connection, in one direction.
struct CutTraffic {
  int stage = 0;            // the first stage after the cut; for a skip, the stage that takes it
  bool forward = true;      // activations; false: gradients
  int peer = 0;             // the rank on the other side
  uint64_t raw_bytes = 0;   // of the tensors in memory
  uint64_t sent_bytes = 0;  // of their messages, headers not counted
};

// kEvaluate runs only the forwards of the schedule, with gradients off and in evaluation mode.
enum class RunMode : uint8_t { kTrain, kEvaluate };

class Executor {
 public:
  // `transport` connects only the ranks of this pipeline (a Group of the world if there are
  // replicas). `stages` must be exactly the stages that the schedule gives this rank (throws
  // BadInput otherwise), and must outlive the executor.
  Executor(Transport& transport, Schedule schedule, std::map<int, Stage*> stages,
           ExecutorOptions options);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Called once, by all ranks together, before the first step. One stage after another runs its
  // forward on the device meta, with gradients off and in evaluation mode, and sends the shapes of
  // its outputs to the next stage; buffers are allocated for these shapes. `inputs`: the inputs of
  // stage 0 for the largest micro-batch (ignored on other ranks). Later micro-batches must not be
  // larger.
  void AgreeOnShapes(const std::vector<TensorSpec>& inputs);

  // Called after AgreeOnShapes, by all ranks together. One stage after another runs its forward on
  // meta in training mode, with stage 0's inputs for the smallest micro-batch, so that a layer
  // which needs more (batch norm: more than one value per channel) fails here and not at the end of
  // an epoch.
  void CheckSmallest(const std::vector<TensorSpec>& inputs);

  // Runs one step. In training the parameters' gradients must be undefined before (ZeroGrad in
  // on_step). They are summed over micro-batches in ascending order, each weighted by its samples.
  // If the mini-batch has k times schedule.num_micro_batches, the schedule runs k times, and
  // reduces and steps only in the last of these rounds.
  StepResult Run(const MiniBatch& batch, RunMode mode);

  // Whether, in the current or last mini-batch, the loss and every tensor that this rank sent or
  // received through a codec are finite. For on_reduce, which is called after the last backward.
  bool finite() const;
  // Throws BadInput if data received in a GPU's memory so far is not what was sent
  // (TensorLink::CheckArrived). Run calls it at its end.
  void CheckArrived();
  // StepResult::loss of the current or last mini-batch, over its forwards so far.
  double loss() const;

  // Throws if ops have found invalid values on a GPU in the current mini-batch; they report these
  // later instead of waiting for the GPU (runtime/deferred_checks.h). To be called before the
  // optimizer's step; Run calls it at its end, too. Waits for the GPU if there is anything to
  // check.
  void CheckValues();
  // Whether the current or last mini-batch is the launch of a CUDA graph; its gradients then have
  // the same addresses as those of the launch before. For on_reduce.
  bool launched() const { return graph_ && graph_->was_launched(); }
  // The number of steps so far that were a launch, and why none can be (why_no_graph; empty: no
  // reason known).
  int64_t launched_steps() const { return graph_ ? graph_->launched() : 0; }
  std::string why_no_graph() const { return graph_ ? graph_->why_not() : std::string(); }

  // Call after a Run of training, with whether its step was taken. If not, residuals of error
  // feedback are restored to what they were before it.
  void SettleCodecs(bool taken);
  // The state of the codecs on a stage's links (codec_state.h). Call between steps.
  std::vector<NamedTensor> CodecState(int stage);
  // Restores the codec state of all of this rank's stages; call after AgreeOnShapes. Links without
  // an entry in `state` start with empty state.
  void SetCodecState(const std::map<std::string, Tensor>& state);

  const RankTotals& totals() const { return clock_.totals(); }  // of all steps so far
  std::vector<CutTraffic> traffic() const;                      // likewise

 private:
  bool IsLast(int stage) const { return stage == schedule_.num_stages - 1; }
  StageRunner::Neighbour NeighbourAt(int stage);
  // TensorLink::Options::place of the cut before `stage`.
  std::string PlaceBefore(int stage) const;
  void CheckStages(const std::map<int, Stage*>& stages) const;
  std::vector<size_t> SkipsNamed(int stage, const std::vector<std::string>& names,
                                 bool taken) const;
  void CheckBatch(const MiniBatch& batch) const;
  void PassSpecs(const std::vector<TensorSpec>& inputs, bool smallest);
  void Connect(int stage, SpecExchange& specs);
  void ConnectSkips(int stage, const SpecExchange& specs);
  StageSkips::Route RouteOf(size_t skip, bool taken);
  LinkCodecs CodecsAt(int cut) const;
  CodecContext WhenOf(const Action& action) const;
  bool StartReceive(const Action& action);
  void MoveSkips(const Action& action, bool receive);
  void ListActions();
  void MakeGraph();
  void ComputeFirst();
  size_t ComputeAsGraph();
  void ComputeAll();
  void RenewLowCopies();
  void MakeSureOfGraph();
  bool Skips(const Action& action, bool of_forward, bool last_round) const;
  size_t SlotOf(const Action& action) const;
  void ExpectNext();
  void Do(const Action& action);
  StepResult RunActions(const MiniBatch& batch, RunMode mode);
  void CheckSent(bool wait);
  void BeginLastBackward(const Action& action) const;
  void Accumulated(const Action& action) const;
  void EndMiniBatch(int stage);
  void Flush();
  StepContext ContextOf(const Action& forward);
  GatherReplicas GatherFor(int stage, int micro_batch);
  TensorRanks TensorRanksFor(int stage, int micro_batch);

  Transport& transport_;
  const Schedule schedule_;
  const ExecutorOptions options_;
  const std::vector<int> owners_;
  const std::vector<char> of_forward_;  // for each of its actions: whether an evaluation runs it
  // The indices in options_.skips that one stage takes and stashes, in the stage's order.
  struct SkipsOf {
    std::vector<size_t> taken, stashed;
  };
  std::map<int, SkipsOf> skips_;
  std::map<int, StageRunner> stages_;
  std::optional<DeferredChecks> checks_;  // on a GPU
  std::unique_ptr<StepGraph> graph_;      // null without
  ActionClock clock_;
  bool agreed_ = false;
  // Of the current step.
  const MiniBatch* batch_ = nullptr;
  bool training_ = true;
  std::vector<Action> actions_;                 // of all rounds
  size_t next_receive_ = 0;                     // earlier receives have been started
  std::map<int, const Action*> last_backward_;  // of each stage: completes its gradients
  // Last member: destroyed before what it works on.
  std::optional<EncoderThread> encoder_;
};

}  // namespace torus::parallel
