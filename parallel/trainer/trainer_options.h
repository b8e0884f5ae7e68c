// What an application passes to Trainer or RankTrainer: the options of a run, its model, loss,
// optimizer and data.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
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
  // Where ranks compute. On kCuda the ranks of a host take its GPUs in turn; batches come in the
  // CPU's memory all the same, and states leave in it. Strategies that shard are for a CPU.
  DeviceKind device = DeviceKind::kCpu;
  int stages = 1;    // of the model
  int chunks = 1;    // stages of each rank; divides `stages`
  Cuts cuts;         // stages - 1 of them; empty: balanced by the blocks' static costs
  int replicas = 1;  // copies of the pipeline, each with a part of every mini-batch
  // Ranks that compute each stage together, each with a slice of its blocks' weights
  // (Block::split): tensor parallelism. It computes what one rank does, up to the rounding of its
  // sums.
  int tensor = 1;
  // Whether each of those ranks sends its share of what crosses a cut, which they gather behind it
  // (Narayanan et al. 2021, section 4.1), or all of it, so that nothing is gathered. No bit depends
  // on it.
  bool share_cuts = true;
  int micro_batches = 1;  // of each replica
  std::string schedule = "gpipe";
  ScheduleGenerator generator;  // a schedule of the application's own; empty: that of the name
  // How the replicas of a stage come to the same weights, one of StrategyNames()
  // (strategy_factory.h). All but "none" give the same bits, where collectives are "direct".
  std::string strategy = "ddp";
  // How gradients are all-reduced over replicas, one of AllReduceNames(). "direct" adds in replica
  // order, in the CPU's memory. "engine" sums GPUs' memory where it lies, over NcclWorld, also that
  // of tensor-parallel ranks, whose other sums are direct by every name. "ring"
  // sends to neighbours alone, and with more than two replicas the bits of a run then depend on
  // where the model is cut (all_reduce.h).
  std::string collectives = "direct";
  // Of ddp: of the gradients that are all-reduced together. The all-reduce of a bucket overlaps the
  // rest of the backward (data_parallel.h).
  size_t bucket_bytes = size_t{25} << 20;
  // Gives the bits of any other number of replicas whose micro-batches are as many in all (for one
  // thread a rank): gradients are summed in one fixed binary tree over the list of all
  // micro-batches (gradient_tree.h), and running statistics are those of all of them, merged in its
  // order. Several replicas must have 1, 2, 4, 8, ... micro-batches each, and collectives be
  // "direct".
  bool reproducible = false;
  // Batch norm normalises a micro-batch by the statistics of those of the same number on all
  // replicas, as torch.nn.SyncBatchNorm does. Each micro-batch must then have samples on all
  // replicas or on none. With one replica it changes nothing. Not with `reproducible`, whose bits
  // may not depend on the replicas, nor with the strategy "none", whose replicas drift apart.
  bool sync_batch_norm = false;
  // Makes a codec for the tensors that cross a cut; called twice by each rank, for activations and
  // for gradients. Empty: tensors are sent as they are.
  std::function<std::unique_ptr<Codec>()> codec;
  // Another for the gradients that go back; empty: as activations.
  std::function<std::unique_ptr<Codec>()> gradient_codec;
  // Others at single cuts, each named by the first stage behind it.
  std::map<int, std::function<std::unique_ptr<Codec>()>> codec_at, gradient_codec_at;
  // Of the gradients that the replicas of ddp sum (coded_bucket_sums.h); collectives must be
  // "direct". Empty: they are all-reduced as they are.
  std::function<std::unique_ptr<Codec>()> reduce_codec;
  // Steps at the beginning of the run in which all that crosses cuts is sent as it is.
  int64_t codec_warmup = 0;
  // A folder for files with what codecs remember of samples (codec/sample_store.h), of which
  // checkpoints then have no copy; may be another on each host. Empty: in memory.
  std::string codec_folder;
  // Whether a rank encodes on a thread of its own beside the one that computes
  // (ExecutorOptions::encodes_beside). Unset: where the host has a core for it, that is at least
  // `threads` and one more for each of its ranks.
  std::optional<bool> encodes_beside;
  int threads = 1;      // of a host, shared by its ranks; each has at least one
  double timeout = 60;  // seconds without progress until a wait fails
  // Seconds that ranks have to stop once one has failed, which they do at the next op's end. A
  // thread that has not stopped by then cannot be stopped: the program ends (run_ranks.h).
  double grace = 30;
  uint64_t seed = 0;  // of the steps' random numbers (StepContext::seed)
  // Largest norm of the whole model's gradient: a larger one is scaled down to it before the step,
  // as torch.nn.utils.clip_grad_norm_ does. 0: no clipping.
  double clip_norm = 0;
  // Multiplies the loss for the backward, for gradients in f16 (loss_scale.h); a step that is not
  // finite halves it. Unset: the loss is as it is.
  std::optional<LossScale> loss_scale;
  // Whether a step's forwards and backwards, where they are as those of the step before, are
  // launched as one CUDA graph (pipeline/step_graph.h): kAuto where WhyNoGraphs says nothing and
  // the model can be recorded. kOn: whatever prevents it is an error; and replicas launch their
  // steps too, and sum gradients behind the backward, not beside it. No bit depends on it, but
  // blocks and loss are called in the recorded step alone, not where it is launched again; and what
  // a block keeps until its end_mini_batch must be what its share_statistics hands over. Behind a
  // launch the update of a single replica is launched too (update_graph.h), where the optimizer
  // splits.
  CudaGraphs cuda_graphs = CudaGraphs::kOff;
  // Steps in a row that may be skipped because they are not finite, until Trainer::Train gives up.
  // Those that have halved the loss's scale do not count.
  int max_skipped = 10;
  // Of the moving average of the weights (weight_average.h): from 0 to below 1. Above 0 the
  // averages are what Trainer::Evaluate evaluates and TrainState::averages holds. 0: no averages.
  double ema_decay = 0;

  // Wraps the transport that a rank uses, for example in an emulated slow link. Called once by each
  // rank; Trainer makes its ranks in their order. Empty: ranks use the transport as it is.
  std::function<std::unique_ptr<Transport>(Transport& transport)> wrap_transport;

  // Callbacks, on the ranks' threads; may be empty. An exception from one fails the run.
  // Called before every action of a schedule; CUDA graphs are left alone where it is set.
  std::function<void(const RankPlace&, const Action&, int64_t step)> before_action;
  // Called with a stage's parameters, each once, when their gradients are summed over
  // micro-batches, replicas and tied uses, before clipping and the optimizer's step; they are those
  // of the scaled loss.
  std::function<void(const RankPlace&, int64_t step, const std::vector<NamedVariable>&)>
      on_gradients;
};

struct TrainingParts {
  // Makes the model: called once by each rank, which keeps its own stages alone, and once more for
  // each stage that shares a variable with an earlier one of the same rank (tied weights). Every
  // call must give new variables with the same initial values, so draw these from a seed and the
  // parameters' names.
  std::function<std::vector<Block>()> model;
  LossFn loss;  // mean over the rows of a micro-batch
  // Counts the rows whose outputs are right; for evaluation. May be empty.
  std::function<int64_t(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets)>
      correct;
  // Called for each stage of each replica, with the stage's parameters, to learn their order; and
  // with what the replica steps of them (ReplicaStrategy::held), for the optimizer that it keeps.
  std::function<std::unique_ptr<Optimizer>(std::vector<NamedVariable>)> optimizer;
  std::function<double(int64_t step)> learning_rate;
  // The inputs of stage 0 for the largest micro-batch that will come; buffers are made to fit it.
  std::vector<TensorSpec> largest_inputs;
  // The inputs of stage 0 for the smallest micro-batch of any training step. Before step 0 the
  // model runs forward on their shapes, so that a layer which needs more (batch norm over one value
  // a channel) fails then and not at the end of an epoch. Empty: no such check.
  std::vector<TensorSpec> smallest_inputs;
  std::string smallest_advice;  // what the user can do then; added to the error's message
};

// The data of one step for one rank: `step` counts from 0 over the whole run. Called on the ranks'
// threads, all at once. `inputs` are needed where place.first, `targets` where place.last,
// `samples` and `global_samples` everywhere; `seed` and `step` are filled in by the trainer. It may
// bring a multiple of options.micro_batches, the same in every step and on every rank: their
// gradients are accumulated over as many rounds of the schedule before the one step (MiniBatch).
// On GPUs it is asked for the batch of the next step while one is computed; where a stop hook then
// ends the call, that batch is asked for again by the next.
using BatchFn = std::function<MiniBatch(int64_t step, const RankPlace& place)>;

// Why no step of such a run is a CUDA graph; empty: one can be.
std::string WhyNoGraphs(const TrainerOptions& options);
// The schedule that the options name. BadInput for one that does not fit stages and micro-batches.
Schedule ScheduleOf(const TrainerOptions& options);
// Who does what in such a run.
WorldLayout LayoutOf(const TrainerOptions& options);
// BadInput naming what is missing or out of its range.
void CheckRun(const TrainerOptions& options, const TrainingParts& parts);

}  // namespace torus::parallel
