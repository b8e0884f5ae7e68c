// Options of an executor: the loss, the codecs and callbacks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/pipeline/loss_fn.h"
#include "parallel/pipeline/skip_connections.h"
#include "parallel/schedule/schedule.h"
#include "parallel/transport/transport.h"
#include "runtime/tensor.h"
#include "runtime/tensor_split.h"

namespace torus::parallel {

enum class CudaGraphs : uint8_t { kOff, kAuto, kOn };

struct ExecutorOptions {
  LossFn loss;  // needed where the last stage runs
  // For activations forward and gradients backward; null, or an identity, sends tensors as they
  // are. The two ranks of a cut must have the same codecs.
  std::shared_ptr<Codec> activation_codec;
  std::shared_ptr<Codec> gradient_codec;
  // Others at single cuts, each named by the first stage behind it. What skips stages has those
  // above.
  std::map<int, std::shared_ptr<Codec>> activation_codec_at, gradient_codec_at;
  // Steps of training at the beginning, counted by MiniBatch::step, in which all is sent as it is.
  int64_t codec_warmup = 0;
  // Where files with what codecs remember of samples lie, one for each link and end: no other
  // pipeline's ranks may have them there. Empty: in memory.
  std::string codec_folder = {};
  // Where this rank's stages compute: what comes from other ranks arrives there.
  Device device = {};
  // Whether steps of training are computed as CUDA graphs where they can be (step_graph.h), on a
  // rank that runs the whole pipeline. Callbacks that belong to forwards and backwards are then not
  // called for the actions that a graph repeats. kOn: what prevents it is an error. No bit depends
  // on it.
  CudaGraphs graphs = CudaGraphs::kOff;
  // Whether a thread beside the rank's own encodes what it sends, while the rank goes on: for hosts
  // with more cores than their ranks use. No bit depends on it.
  bool encodes_beside = false;
  // The tensors that skip stages, of the whole model: every one that a stage takes or stashes.
  std::vector<SkipConnection> skips;
  // Called before a stage's last backward of a mini-batch, which makes its gradients whole; not
  // where all of this pipeline's micro-batches are without samples. May be empty.
  std::function<void(int stage, int64_t step)> on_last_backward;
  // Called for kReduce and kStep of a stage; may be empty. on_reduce returns the seconds at its end
  // in which it waited for other stages: these count as idle. on_step returns whether the step was
  // taken (false: skipped), which the stage's EndMiniBatch is told next.
  std::function<double(int stage, int64_t step)> on_reduce;
  std::function<bool(int stage, int64_t step)> on_step;
  // Called when the parameters of a stage have the gradients of one more micro-batch, in ascending
  // order of these, which count through the whole mini-batch; those without samples are left out.
  // May be empty.
  std::function<void(int stage, int micro_batch)> on_accumulated;
  // Called for kGather and kFree of a stage, also in evaluation; may be empty.
  std::function<void(int stage, int64_t step)> on_gather, on_free;
  // Gathers a tensor of each replica of this rank's stages (GatherReplicas, with words for errors):
  // forwards in training get it with their context, so all replicas must run the same actions on
  // micro-batches that have samples on all of them or on none. Empty: replicas do not meet there.
  std::function<std::vector<Tensor>(const Tensor& own, const std::string& what)> gather_replicas;
  // This rank's place among those that compute its layers together, and what they do between them
  // (TensorRanks, with words for errors): forwards get it with their context. All of them run the
  // same actions on the same samples. Of one rank: empty.
  struct TensorGroup : TensorPlace {
    std::function<Tensor(const Tensor& own, const std::string& what)> sum;
    std::function<std::vector<Tensor>(const Tensor& own, const std::string& what)> gather;
    // The transport between them, over which they share out what crosses their cuts
    // (TensorLink::Options::sharers). Null: each sends and receives all of it.
    Transport* sharers = nullptr;
  };
  TensorGroup tensor_group;
  // Called before every action; what it throws fails that action. Tests inject faults with it. The
  // action's micro-batch counts through the whole mini-batch.
  std::function<void(const Action& action, int64_t step)> before_action;
};

}  // namespace torus::parallel
