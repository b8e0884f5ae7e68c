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
#include "runtime/later_checks.h"

namespace torus::parallel {

// The bytes that this rank has sent across one cut, or of one skip, in one direction.
struct CutTraffic {
  int stage = 0;        // the first stage after the cut; of a skip, the stage that takes it
  bool forward = true;  // activations; else gradients
  int peer = 0;
  uint64_t raw_bytes = 0;   // of the tensors in memory
  uint64_t sent_bytes = 0;  // of their messages, headers not counted
};

// With kEvaluate the forwards of the schedule alone, with gradients off and in evaluation mode.
enum class RunMode : uint8_t { kTrain, kEvaluate };

class Executor {
 public:
  // `transport` spans the ranks of this pipeline alone (a Group of the world when there are
  // replicas). `stages` has every stage that the schedule gives this rank and no other; they must
  // outlive the executor. BadInput otherwise.
  Executor(Transport& transport, Schedule schedule, std::map<int, Stage*> stages,
           ExecutorOptions options);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Called once, by all ranks together, before the first step. Each stage but the last in turn runs
  // its forward on the device meta, with gradients off and in evaluation mode, and tells the next
  // one which shapes come out; buffers are made to fit. `inputs`: what stage 0 gets for the largest
  // micro-batch (ignored elsewhere). Nothing larger may come later.
  void AgreeOnShapes(const std::vector<TensorSpec>& inputs);

  // Called after that, by all ranks together. Each stage in turn runs its forward on meta in
  // training mode for what stage 0 gets for the smallest micro-batch, so that a layer which needs
  // more (batch norm: more than one value a channel) refuses it here and not at the end of an
  // epoch.
  void CheckSmallest(const std::vector<TensorSpec>& inputs);

  // One step. In training the parameters' gradients must be undefined before (ZeroGrad in on_step);
  // they are summed over micro-batches in ascending order, each weighted by its samples. The
  // schedule runs once for every schedule.num_micro_batches of the mini-batch, and reduces and
  // steps in the last of these rounds alone.
  StepResult Run(const MiniBatch& batch, RunMode mode);

  // Whether the loss, and every tensor that this rank sent or received through a codec, are finite,
  // in the mini-batch that runs or ran last. For on_reduce, which comes after the last backward.
  bool finite() const;
  // BadInput where what has come into a GPU's memory so far is not what was sent
  // (TensorLink::CheckArrived); Run does so at its end.
  void CheckArrived();
  // StepResult::loss of that mini-batch, of its forwards so far.
  double loss() const;

  // Throws for values on a GPU that ops have found to be wrong in the mini-batch that runs, and
  // that they have gone on without (runtime/later_checks.h): before the optimizer's step. Waits for
  // the GPU where there is anything to ask. Run calls it at its end, too.
  void CheckValues();
  // Whether the mini-batch that runs, or ran last, is a launch of a graph, whose gradients
  // lie where those of the launch before lay. For on_reduce.
  bool launched() const { return graph_ && graph_->was_launched(); }
  // Steps so far that were one, and why none can be (empty: nothing known).
  int64_t launched_steps() const { return graph_ ? graph_->launched() : 0; }
  std::string why_no_graph() const { return graph_ ? graph_->why_not() : std::string(); }

  // Behind a Run of training: whether its step was taken. Residuals of error feedback become again
  // what they were before one that was not.
  void SettleCodecs(bool taken);
  // What the codecs of a stage's links remember (codec_state.h); between steps.
  std::vector<NamedTensor> CodecState(int stage);
  // Puts back what there is of all of this rank's stages; after AgreeOnShapes. Links that find
  // nothing there remember nothing.
  void SetCodecState(const std::map<std::string, Tensor>& state);

  const RankTotals& totals() const { return clock_.totals(); }
  std::vector<CutTraffic> traffic() const;

 private:
  bool IsLast(int stage) const { return stage == schedule_.num_stages - 1; }
  StageRunner::Neighbour NeighbourAt(int stage);
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
  void MakeSureOfGraph();
  bool Skips(const Action& action, bool of_forward, bool last_round) const;
  size_t SlotOf(const Action& action) const;
  void ExpectNext();
  void Do(const Action& action);
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
  const std::vector<char> of_forward_;  // of this rank's actions: whether an evaluation runs it
  // Of one of this rank's stages: which of options_.skips it takes and stashes, in its order.
  struct SkipsOf {
    std::vector<size_t> taken, stashed;
  };
  std::map<int, SkipsOf> skips_;
  std::map<int, StageRunner> stages_;
  std::optional<LaterChecks> checks_;  // on a GPU
  std::unique_ptr<StepGraph> graph_;   // null without
  ActionClock clock_;
  bool agreed_ = false;
  // Of the step that runs.
  const MiniBatch* batch_ = nullptr;
  bool training_ = true;
  std::vector<Action> actions_;                 // of all rounds
  size_t next_receive_ = 0;                     // those before have been started
  std::map<int, const Action*> last_backward_;  // of each stage: which makes its gradients whole
  // Last: it ends before what it works on.
  std::optional<EncoderThread> encoder_;
};

}  // namespace torus::parallel
