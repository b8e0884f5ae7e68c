#include "tools/bench/train_step.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "autograd/backward.h"
#include "autograd/recompute.h"
#include "models/checkpoint/state_dict.h"
#include "models/nn/describe.h"
#include "recipes/data/task_loss.h"
#include "recipes/model/model_blocks.h"
#include "runtime/error.h"
#include "runtime/io/safetensors.h"
#include "runtime/kernels.h"
#include "runtime/parallel_for.h"
#include "runtime/pinned.h"
#include "runtime/rng.h"

namespace torus::bench {
namespace {

// Counts the whole head, even if the loss computes only a part of it.
int64_t ForwardFlops(const ModelDescriptor& descriptor, const Tensor& inputs) {
  const auto model = descriptor.build(descriptor.config({}, descriptor.published.outputs),
                                      descriptor.name, {.dropout = false});
  const Variable shape(Empty(inputs.shape(), inputs.dtype(), kMetaDevice));
  int64_t flops = 0;
  for (const nn::LayerSummary& layer : nn::Describe(*model, {shape})) flops += layer.cost.flops;
  return flops;
}

// Removes the tensor of that name from the list.
Tensor Extract(std::vector<NamedTensor>& tensors, const std::string& name,
               const std::string& where) {
  for (auto it = tensors.begin(); it != tensors.end(); ++it) {
    if (it->name != name) continue;
    const Tensor value = it->value;
    tensors.erase(it);
    return value;
  }
  Throw<BadInput>(where, "has no tensor {}", name);
}

Tensor RandomIds(const Shape& shape, int64_t count, const char* what) {
  const RandomStream stream({.layer = HashName(what)});
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < Numel(shape); ++i)
    ids.push_back(
        static_cast<int64_t>(stream.Below(static_cast<uint64_t>(i), static_cast<uint64_t>(count))));
  return FromVector(ids, shape);
}

// (N, T), i64: 1 for the tokens of texts of half to all of T tokens, 0 for the padding behind them.
Tensor RandomMask(const Tensor& tokens, ModelTask task) {
  Require(task == ModelTask::kSentences || task == ModelTask::kMaskedToken, "bench",
          "only models that read whole texts take an attention mask");
  const int64_t rows = tokens.dim(0), width = tokens.dim(1);
  const Tensor cut = RandomIds({rows}, width / 2 + 1, "bench lengths");
  Tensor mask(tokens.shape(), DType::kI64);
  int64_t* const to = mask.mutable_data<int64_t>();
  for (int64_t i = 0; i < mask.numel(); ++i)
    to[i] = i % width < width - cut.data<int64_t>()[i / width];
  return mask;
}

Tensor RandomImages(int64_t batch, int64_t size) {
  Tensor images = Empty({batch, size, size, 3});
  FillNormal(images, 0, 1, RandomStream({.layer = HashName("bench images")}));
  return images;
}

// (N, 3, S, S) as the reference has them to (N, S, S, 3).
Tensor ReadImages(const Tensor& images, const std::string& where) {
  Require(images.rank() == 4 && images.dim(1) == 3 && images.dim(2) == images.dim(3), where,
          "bench.images must be (N, 3, S, S), got {}", images.shape());
  return images.Permute({0, 2, 3, 1}).Contiguous();
}

Tensor Pinned(const Tensor& tensor) {
  Tensor pinned = EmptyPinned(tensor.shape(), tensor.dtype());
  Copy(tensor, pinned);
  return pinned;
}

}  // namespace

TrainStepOptions ParseGpuStep(const std::string& program, const std::string& text) {
  TrainStepOptions step{.device = DeviceKind::kCuda};
  const size_t colon = text.find(':');
  int read = 0;
  bool fits =
      colon != std::string::npos &&
      std::sscanf(text.c_str() + colon + 1, "%ldx%ld%n", &step.batch, &step.size, &read) == 2 &&
      step.batch > 0 && step.size > 0;
  for (size_t at = colon + 1 + static_cast<size_t>(read); fits && at < text.size();) {
    const size_t end = std::min(text.find(':', at + 1), text.size());
    const std::string word = text.substr(at, end - at);
    bool* const what = word == ":dropout" ? &step.dropout : word == ":mask" ? &step.mask : nullptr;
    fits = what != nullptr && !*what;
    if (fits) *what = true;
    at = end;
  }
  Require(fits, program,
          "--step must be MODEL:BATCHxSIZE, which :dropout and :mask may follow, got {}", text);
  step.model = text.substr(0, colon);
  return step;
}

TrainStep::TrainStep(const TrainStepOptions& options)
    : options_(options), model_(MakeStepModel(options.model, options.dropout)) {
  const Shape tokens = {options.batch, options.size};
  const ModelDescriptor& model = model_.descriptor;
  const bool text = model.task != ModelTask::kImages, language = IsLanguageModel(model.task);
  constexpr int64_t kMostTokens = 50000;
  Prepare(
      text ? RandomIds(tokens, std::min(model.published.tokens, kMostTokens), "bench tokens")
           : RandomImages(options.batch, options.size),
      RandomIds(language ? tokens : Shape{options.batch}, model.published.outputs, "bench labels"));
}

TrainStep::TrainStep(const TrainStepOptions& options, const std::string& exchange)
    : options_(options), model_(MakeStepModel(options.model, options.dropout)) {
  std::vector<NamedTensor> tensors = ReadSafetensors(exchange).tensors;
  const bool text = model_.descriptor.task != ModelTask::kImages;
  const Tensor inputs = text ? Extract(tensors, "bench.tokens", exchange)
                             : ReadImages(Extract(tensors, "bench.images", exchange), exchange);
  const Tensor labels = Extract(tensors, "bench.labels", exchange);
  LoadStateDict(*model_.model, tensors, exchange);
  Prepare(inputs, labels);
}

void TrainStep::Prepare(const Tensor& inputs, const Tensor& labels) {
  const bool on_gpu = options_.device == DeviceKind::kCuda;
  Require(on_gpu || !options_.graph, "bench", "a step is a CUDA graph on a GPU, not on a CPU");
  options_.batch = inputs.dim(0);
  options_.size = inputs.dim(1);
  flops_ = 3 * static_cast<double>(ForwardFlops(model_.descriptor, inputs));
  ctx_.samples.resize(static_cast<size_t>(options_.batch));
  std::iota(ctx_.samples.begin(), ctx_.samples.end(), 0);
  batch_.global_samples = options_.batch;
  std::vector<Tensor> all{inputs};
  if (options_.mask) all.push_back(RandomMask(inputs, model_.descriptor.task));
  if (on_gpu)
    for (Tensor& one : all) one = Pinned(one);
  batch_.micro_batches = {{.inputs = std::move(all),
                           .targets = {on_gpu ? Pinned(labels) : labels},
                           .samples = ctx_.samples}};
  blocks_ = recipes::ModelBlocks(*model_.model);
  for (parallel::Block& block : blocks_) {
    block.precision = options_.precision;
    block.recompute = options_.recompute && &block != &blocks_.front() && &block != &blocks_.back();
  }
  if (on_gpu)
    MakeTrainer();
  else
    optimizer_ = model_.optimizer(model_.model->Parameters());
}

void TrainStep::MakeTrainer() {
  parallel::TrainerOptions options{.device = options_.device, .threads = TeamSize()};
  options.cuda_graphs = options_.graph ? parallel::CudaGraphs::kOn : parallel::CudaGraphs::kOff;
  if (options_.precision.low == DType::kF16) options.loss_scale.emplace();
  std::vector<parallel::TensorSpec> largest;
  for (const Tensor& input : batch_.micro_batches[0].inputs)
    largest.push_back({input.shape(), input.dtype()});
  options.thread_scope = [plans = options_.plans](const parallel::RankPlace&, Device) {
    return std::make_shared<cuda::WithPlans>(plans);
  };
  const parallel::TrainingParts parts{
      .model = [blocks = blocks_] { return blocks; },
      .loss = recipes::TaskLoss(model_.descriptor, options_.precision),
      .optimizer = model_.optimizer,
      .learning_rate = [rate = model_.learning_rate](int64_t) { return rate; },
      .largest_inputs = std::move(largest)};
  trainer_ = std::make_unique<parallel::Trainer>(options, parts);
}

std::vector<Variable> TrainStep::Forward() const {
  std::vector<Variable> values;
  for (const Tensor& input : batch_.micro_batches[0].inputs) values.emplace_back(input);
  for (const parallel::Block& block : blocks_) {
    const auto forward = [run = block.forward, ctx = ctx_](const std::vector<Variable>& x) {
      return run(x, ctx);
    };
    std::vector<Variable> parameters;
    for (const NamedVariable& p : block.parameters) parameters.push_back(p.value);
    values = block.recompute ? Recompute(forward, values, parameters) : forward(values);
  }
  return values;
}

Tensor TrainStep::Compute() const {
  const auto compute_loss = [&] {
    const WithPrecision precision(options_.precision);
    return model_.descriptor.loss(Forward(), batch_.micro_batches[0].targets[0]);
  };
  const Variable loss = compute_loss();
  Backward({loss});
  return loss.data();
}

double TrainStep::RunOnCpu() {
  optimizer_->ZeroGrad();
  const Tensor loss = Compute();
  model_.model->EndMiniBatch();
  optimizer_->Step(model_.learning_rate);
  ++ctx_.step;
  return loss.Item();
}

double TrainStep::Run() {
  double loss = 0;
  Run(1, [&](const parallel::StepReport& report) { loss = report.loss; });
  return loss;
}

void TrainStep::Run(int steps, const std::function<void(const parallel::StepReport&)>& after) {
  if (trainer_) {
    const auto batches = [this](int64_t, const parallel::RankPlace&) { return batch_; };
    trainer_->Train(trainer_->step() + steps, batches, {.on_step = after});
  } else {
    for (int i = 0; i < steps; ++i) after({.loss = RunOnCpu()});
  }
}

}  // namespace torus::bench
