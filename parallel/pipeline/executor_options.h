// Options of an executor: the loss, the codecs and callbacks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autograd/low_copy.h"
#include "parallel/codec/codec.h"
#include "parallel/pipeline/loss_fn.h"
#include "parallel/pipeline/partition.h"
#include "parallel/pipeline/skip_connections.h"
#include "parallel/schedule/schedule.h"
#include "parallel/transport/transport.h"
#include "runtime/tensor.h"
#include "runtime/tensor_split.h"

namespace torus::parallel {

// Whether steps are launched as graphs: not, where possible, or else it is an error.
enum class CudaGraphs : uint8_t { kOff, kAuto, kOn };

// What an executor does besides its schedule.
struct ExecutorOptions {
  LossFn loss;  // needed on the rank of the last stage
  // For activations forward and gradients backward; null, or an identity, sends tensors as they
  // are. The two ranks of a cut, or of a skip connection, must have the same codecs.
  std::shared_ptr<Codec> activation_codec;
  std::shared_ptr<Codec> gradient_codec;  // likewise
  // Other codecs for single cuts, by the number of the first stage after the cut. A skip connection
  // has those of the cut before the stage that takes it.
  std::map<int, std::shared_ptr<Codec>> activation_codec_at, gradient_codec_at;
  // The number of first training steps (MiniBatch::step) in which all tensors are sent uncoded.
  int64_t codec_warmup = 0;
  // The folder for files with codecs' state of samples, one file for each link and end. No other
  // pipeline's ranks may use the same folder. Empty: this state is kept in memory.
  std::string codec_folder = {};
  // Where this rank's stages compute and receive tensors.
  Device device = {};
  // Whether training steps are computed as CUDA graphs if possible (step_graph.h), on a rank that
  // runs the whole pipeline. The callbacks of forwards and backwards are then not called for the
  // actions that a graph repeats. kOn: throws if something prevents it. Does not change any bits.
  CudaGraphs graphs = CudaGraphs::kOff;
  // Rounds many weights to 16 bits in one launch (autograd/low_copy.h). If set, a mini-batch begins
  // with the copies that the one before used; else each is made at its first use. Does not change
  // any bits.
  FillCopies round_weights;
  // Whether the rank waits after every action until its GPU has done the action's work, so that an
  // action's measured time includes it. Otherwise that is the time until the work is launched.
  bool times_gpu_work = false;
  // Whether a second thread encodes what the rank sends while the rank goes on computing; for hosts
  // with more cores than their ranks use. Does not change any bits.
  bool encodes_beside = false;
  // Where the model is cut, to name the codecs' state. Empty: stages name it.
  Cuts cuts;
  // All tensors of the model that skip stages.
  std::vector<SkipConnection> skips;
  // Called before a stage's last backward of a mini-batch, which completes its gradients; not
  // called if none of this pipeline's micro-batches has samples. May be empty.
  std::function<void(int stage, int64_t step)> on_last_backward;
  // Called for kReduce and kStep of a stage; may be empty. on_reduce returns how many seconds at
  // its end it waited for other stages; these count as idle. on_step returns whether the step was
  // taken (false: skipped); the stage's EndMiniBatch gets this value next.
  std::function<double(int stage, int64_t step)> on_reduce;
  std::function<bool(int stage, int64_t step)> on_step;
  // Called when the gradients of one more micro-batch have been accumulated in a stage's
  // parameters, in ascending order. `micro_batch` counts through the whole mini-batch; those
  // without samples are left out. May be empty.
  std::function<void(int stage, int micro_batch)> on_accumulated;
  // Called for kGather and kFree of a stage, also in evaluation; may be empty.
  std::function<void(int stage, int64_t step)> on_gather, on_free;
  // Gathers one tensor from each replica of this rank's stages (GatherReplicas; `what` is used in
  // errors). Forwards in training get it in their context. All replicas must then run the same
  // actions, and each micro-batch must have samples on all replicas or on none. Empty: forwards do
  // not exchange anything between replicas.
  std::function<std::vector<Tensor>(const Tensor& own, const std::string& what)> gather_replicas;
  // This rank's place among the tensor-parallel ranks that compute its layers together, and their
  // collectives (TensorRanks; `what` is used in errors). Forwards get them in their context. All of
  // these ranks run the same actions on the same samples. Empty for one rank.
  struct TensorGroup : TensorPlace {
    std::function<Tensor(const Tensor& own, const std::string& what)> sum;  // over these ranks
    // Of each of these ranks.
    std::function<std::vector<Tensor>(const Tensor& own, const std::string& what)> gather;
    // The transport between them, if each sends and receives only its share of what crosses a cut
    // (TensorLink::Options::sharers). Null: each sends and receives all of it.
    Transport* sharers = nullptr;
  };
  TensorGroup tensor_group;  // of this rank
  // Called before every action; an exception from it fails that action (tests inject faults this
  // way). The action's micro-batch counts through the whole mini-batch.
  std::function<void(const Action& action, int64_t step)> before_action;
};

}  // namespace torus::parallel
