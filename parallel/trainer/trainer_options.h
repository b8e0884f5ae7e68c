// What an application passes to Trainer or RankTrainer: the options of a run, its model, loss,
// optimizer and data.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/optim/optimizer.h"
#include "parallel/pipeline/executor.h"
#include "parallel/pipeline/partition.h"
#include "parallel/schedule/factory.h"
#include "parallel/trainer/loss_scale.h"
#include "parallel/trainer/world_layout.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

struct TrainerOptions {
  // Where ranks compute. With kCuda the ranks of a host take its GPUs in turn; batches and states
  // are in CPU memory all the same. Sharding strategies and gossip work on CPUs only.
  DeviceKind device = DeviceKind::kCpu;
  int stages = 1;    // of the model
  int chunks = 1;    // stages of each rank (V-shaped schedules have two); divides `stages`
  Cuts cuts = {};    // stages - 1 of them; empty: balanced by the blocks' static costs
  int replicas = 1;  // copies of the pipeline, each with a part of every mini-batch
  // Ranks that compute each stage together, each with a slice of its blocks' weights
  // (Block::split): tensor parallelism. It computes what one rank does, up to the rounding of its
  // sums.
  int tensor = 1;
  // Whether each of those ranks sends only its share of what crosses a cut and gathers the shares
  // after it (Narayanan et al. 2021, section 4.1), or sends all of it, without a gather. Does not
  // change any bits.
  bool share_cuts = true;
  int micro_batches = 1;             // of each replica
  std::string schedule = "gpipe";    // a name of ScheduleNames()
  ScheduleGenerator generator = {};  // the application's own schedule; empty: `schedule`
  // How the replicas of a stage get the same weights: one of StrategyNames() (strategy_factory.h),
  // with arguments for capital letters: "local-sgd:8". Those that keep replicas equal give the same
  // bits if `collectives` is "direct".
  std::string strategy = "ddp";
  // How gradients are all-reduced over replicas: one of AllReduceNames(). "direct" adds in replica
  // order, in CPU memory. "engine" sums in GPU memory, over NcclWorld, and does so for
  // tensor-parallel ranks too; with any other name their sums are direct. "ring" sends to
  // neighbours only; with more than two replicas the bits of a run then depend on where the model
  // is cut (all_reduce.h).
  std::string collectives = "direct";
  // For ddp: bytes of the gradients that are all-reduced together. The all-reduce of a bucket
  // overlaps the rest of the backward (data_parallel.h).
  size_t bucket_bytes = size_t{25} << 20;
  // Makes the bits independent of the number of replicas, for the same total number of
  // micro-batches and one thread per rank: gradients are summed in one fixed binary tree over the
  // list of all micro-batches (gradient_tree.h), and running statistics cover all of them, merged
  // in that order. Several replicas must have 1, 2, 4, 8, ... micro-batches each, and `collectives`
  // must be "direct".
  bool reproducible = false;
  // Batch norm normalises micro-batch m by the statistics of micro-batch m on all replicas, as
  // torch.nn.SyncBatchNorm does. Each micro-batch must then have samples on all replicas or on
  // none. With one replica it changes nothing. Cannot be combined with `reproducible`, whose bits
  // may not depend on the replicas, or with a strategy whose replicas are apart.
  bool sync_batch_norm = false;
  // Makes a codec for the tensors that cross a cut; called twice by each rank, for activations and
  // for gradients. Empty: tensors are sent as they are.
  std::function<std::unique_ptr<Codec>()> codec = {};
  // Makes another codec for the gradients; empty: the same as for activations.
  std::function<std::unique_ptr<Codec>()> gradient_codec = {};
  // Other codecs for single cuts, by the number of the first stage after the cut, and for the skip
  // connections to that stage.
  std::map<int, std::function<std::unique_ptr<Codec>()>> codec_at = {}, gradient_codec_at = {};
  // Makes the codec of the gradients that the replicas of ddp sum, or of the differences that those
  // of diloco sum (coded_bucket_sums.h); `collectives` must be "direct". Empty: they are
  // all-reduced uncoded.
  std::function<std::unique_ptr<Codec>()> reduce_codec = {};
  // The number of first training steps of the run in which nothing is encoded.
  int64_t codec_warmup = 0;
  // A folder for files with codecs' state of samples (codec/sample_store.h), which checkpoints then
  // do not contain; may differ between hosts. Empty: this state is kept in memory.
  std::string codec_folder = {};
  // Whether a rank encodes on a second thread (ExecutorOptions::encodes_beside). Unset: it does if
  // the host has at least `threads` cores and one more for each of its ranks.
  std::optional<bool> encodes_beside = {};
  int threads = 1;      // per host, divided among its ranks (ThreadShares): each has at least one
  double timeout = 60;  // seconds without progress until a wait fails
  // Seconds in which ranks must stop after one has failed; they stop at the end of their current
  // op. If a thread has not stopped by then, StuckRank is thrown (run_ranks.h).
  double grace = 30;
  uint64_t seed = 0;  // of the steps' random numbers (StepContext::seed)
  // The largest norm of the whole model's gradient; a gradient of a larger norm is scaled down to
  // it before the step, as torch.nn.utils.clip_grad_norm_ does. 0: no clipping.
  double clip_norm = 0;
  // Computes that norm without clipping too, for StepReport::gradient_norm. It takes one exchange
  // more per step between the ranks of a pipeline.
  bool gradient_norm = false;
  // Multiplies the loss before the backward, for gradients in f16 (loss_scale.h); a step that is
  // not finite halves it. Unset: the loss is not scaled.
  std::optional<LossScale> loss_scale = {};
  // Whether a step's forwards and backwards are launched as one CUDA graph if they repeat those of
  // the step before (pipeline/step_graph.h). kAuto: if WhyNoGraphs returns nothing and the model
  // can be recorded. kOn: throws if something prevents it; and replicas launch their steps too, and
  // sum gradients after the backward instead of during it. Does not change any bits. Blocks and
  // loss are called only in the recorded step, not when it is launched again; so a block may keep
  // for its end_mini_batch only what its share_statistics hands over. After a launch the update
  // is launched as graphs too (update_graph.h), if Optimizer::splits().
  CudaGraphs cuda_graphs = CudaGraphs::kOff;
  // Measures the time of each part of a step on a GPU with the work that it launches
  // (ExecutorOptions::times_gpu_work). Steps then take longer, and are no CUDA graphs. Does not
  // change any bits.
  bool times_gpu_work = false;
  // Trainer::Train gives up after this many steps in a row that were skipped because they were not
  // finite. Those that halved the loss scale do not count.
  int max_skipped = 10;
  // Decay of the moving average of the weights (weight_average.h), from 0 to below 1. Above 0,
  // Trainer::Evaluate evaluates the averages and TrainState::averages holds them. 0: no averages.
  double ema_decay = 0;

  // What else must be equal on all ranks, by name, such as the learning rate; compared before step
  // 0 with what these options say (RequireEqualFacts).
  std::vector<std::pair<std::string, std::string>> facts = {};

  // Wraps the transport of a rank, for example in an emulated slow link. Called once for each rank;
  // Trainer does so in rank order. Empty: ranks use the transport directly.
  std::function<std::unique_ptr<Transport>(Transport& transport)> wrap_transport = {};

  // Callbacks, on the ranks' threads; may be empty. An exception from one fails the run.

  // Called before a rank prepares, trains or evaluates on the calling thread. What it returns lives
  // on that thread until it has done so, such as settings of the thread's ops.
  std::function<std::shared_ptr<void>(const RankPlace&, Device)> thread_scope = {};
  // Called before every action of a schedule; if set, no CUDA graphs are used.
  std::function<void(const RankPlace&, const Action&, int64_t step)> before_action = {};
  // Called with a stage's parameters, each once, after their gradients are summed over
  // micro-batches, replicas and tied uses, before clipping and the optimizer's step. The gradients
  // are those of the scaled loss.
  std::function<void(const RankPlace&, int64_t step, const std::vector<NamedVariable>&)>
      on_gradients = {};
};

// What a trainer trains: model, loss, optimizer and rate.
struct TrainingParts {
  // Makes the model. Called once by each rank, which keeps only its own stages, and once more for
  // each stage that shares a variable with an earlier one of the same rank (tied weights). Every
  // call must make new variables with the same initial values, so draw these from a seed and the
  // parameters' names.
  std::function<std::vector<Block>()> model = {};
  LossFn loss = {};  // mean over the rows of a micro-batch; rows that do not count (left_out) add 0
  // Counts the rows with correct outputs, for evaluation. May be empty.
  std::function<int64_t(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets)>
      correct = {};
  // Counts the rows that do not count in an evaluation because their example could not be read.
  // May be empty: all count.
  std::function<int64_t(const std::vector<Tensor>& targets)> left_out = {};
  // Makes an optimizer. Called for each stage of each replica: with all parameters of the stage, to
  // learn their order, and with those that the replica updates (ReplicaStrategy::held), to make the
  // optimizer that is used.
  std::function<std::unique_ptr<Optimizer>(std::vector<NamedVariable>)> optimizer = {};
  std::function<double(int64_t step)> learning_rate = {};  // of each step, from 0
  // The inputs of stage 0 for the largest micro-batch; buffers are allocated for it.
  std::vector<TensorSpec> largest_inputs = {};
  // The inputs of stage 0 for the smallest micro-batch of any training step. Before step 0 the
  // model runs forward on their shapes, so that a layer which needs more (batch norm over one value
  // a channel) fails then and not at the end of an epoch. Empty: no such check.
  std::vector<TensorSpec> smallest_inputs = {};
  std::string smallest_advice = {};  // advice to the user, added to the message of that error
};

// The data of one step for one rank: `step` counts from 0 over the whole run. Called on the ranks'
// threads, all at once. `inputs` are needed where place.first, `targets` where place.last,
// `samples` and `global_samples` everywhere; `seed` and `step` are filled in by the trainer. It may
// return k times options.micro_batches micro-batches, with the same k in every step and on every
// rank: their gradients are then accumulated over k rounds of the schedule before the one optimizer
// step (MiniBatch). On GPUs it is called for the next step's batch while the current step is
// computed; if a stop hook then ends the Train call, the next call asks for that batch again.
using BatchFn = std::function<MiniBatch(int64_t step, const RankPlace& place)>;

// Why no step of a run with these options can be a CUDA graph; empty if one can.
std::string WhyNoGraphs(const TrainerOptions& options);
// The schedule that the options name. Throws BadInput if it does not fit stages and micro-batches.
Schedule ScheduleOf(const TrainerOptions& options);
// The place of each rank in a run with these options.
WorldLayout LayoutOf(const TrainerOptions& options);
// Throws BadInput naming what is missing or out of range.
void CheckRun(const TrainerOptions& options, const TrainingParts& parts);

}  // namespace torus::parallel
