#include "tools/bench/train_step.h"

#include <algorithm>

#include "autograd/backward.h"
#include "autograd/low_copy.h"
#include "autograd/recompute.h"
#include "models/checkpoint/state_dict.h"
#include "models/nn/describe.h"
#include "runtime/error.h"
#include "runtime/io/safetensors.h"
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

}  // namespace

TrainStep::TrainStep(const TrainStepOptions& options)
    : options_(options), model_(MakeStepModel(options.model)) {
  const Shape tokens = {options.batch, options.size};
  const ModelDescriptor& model = model_.descriptor;
  const bool text = model.task != ModelTask::kImages, language = IsLanguageModel(model.task);
  constexpr int64_t kMostTokens = 50000;
  SetBatch(
      text ? RandomIds(tokens, std::min(model.published.tokens, kMostTokens), "bench tokens")
           : RandomImages(options.batch, options.size),
      RandomIds(language ? tokens : Shape{options.batch}, model.published.outputs, "bench labels"));
}

TrainStep::TrainStep(const TrainStepOptions& options, const std::string& exchange)
    : options_(options), model_(MakeStepModel(options.model)) {
  std::vector<NamedTensor> tensors = ReadSafetensors(exchange).tensors;
  const bool text = model_.descriptor.task != ModelTask::kImages;
  const Tensor inputs = text ? Extract(tensors, "bench.tokens", exchange)
                             : ReadImages(Extract(tensors, "bench.images", exchange), exchange);
  SetBatch(inputs, Extract(tensors, "bench.labels", exchange));
  LoadStateDict(*model_.model, tensors, exchange);
}

void TrainStep::SetBatch(const Tensor& inputs, const Tensor& labels) {
  options_.batch = inputs.dim(0);
  options_.size = inputs.dim(1);
  inputs_ = Variable(inputs.To(options_.device));
  labels_ = labels.To(options_.device);
  model_.model->MoveTo(options_.device);
  if (options_.device.kind == DeviceKind::kCuda) checks_.emplace(options_.device);
  Require(!options_.graph || checks_, "bench", "a step is a CUDA graph on a GPU, got {}",
          options_.device);
  for (int64_t i = 0; i < inputs.dim(0); ++i) ctx_.samples.push_back(i);
  flops_ = 3 * static_cast<double>(ForwardFlops(model_.descriptor, inputs));
}

std::vector<Variable> TrainStep::Forward() const {
  const auto& layers = model_.model->layers();
  std::vector<Variable> values{inputs_};
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto forward = [module = layers[i].module, ctx = ctx_](const std::vector<Variable>& x) {
      return module->ForwardAll(x, ctx);
    };
    std::vector<Variable> parameters;
    for (const NamedVariable& p : layers[i].module->Parameters()) parameters.push_back(p.value);
    const bool again = options_.recompute && i > 0 && i + 1 < layers.size();
    values = again ? Recompute(forward, values, parameters) : forward(values);
  }
  return values;
}

void TrainStep::Compute() {
  const auto compute_loss = [&] {
    const WithPrecision precision(options_.precision);
    return model_.descriptor.loss(Forward(), labels_);
  };
  const Variable loss = compute_loss();
  Backward({loss});
  loss_ = loss.data();
}

// The first step runs without a graph, since it loads libraries and creates plans.
void TrainStep::ComputeAsGraph() {
  if (!numbers_) {
    const NumberLog log;
    Compute();
    numbers_ = log.numbers();
    return;
  }
  if (!recorded_) Record();
  Launch();
}

void TrainStep::Record() {
  const std::vector<NamedVariable> parameters = model_.model->Parameters();
  for (const NamedVariable& p : parameters) ForgetLowCopy(p.value);
  recorded_ = std::make_unique<Recorded>(options_.device);
  recorded_->graph.Assume(*numbers_);
  recorded_->graph.Record([&] { Compute(); });
  for (const NamedVariable& p : parameters) recorded_->gradients.push_back(p.value.grad());
  model_.model->Share([&](KeptStatistics own) {
    recorded_->statistics.push_back(own);
    return own;
  });
  recorded_->checks = checks_->expected();
}

// The batch stays where it is.
void TrainStep::Launch() {
  recorded_->graph.Launch(ctx_.step);
  size_t next = 0;
  for (const NamedVariable& p : model_.model->Parameters())
    Variable(p.value).SetGrad(recorded_->gradients.at(next++));
  next = 0;
  model_.model->Share([&](const KeptStatistics&) { return recorded_->statistics.at(next++); });
  checks_->SetExpected(recorded_->checks);
  TORUS_CHECK(recorded_->graph.Held(), "numbers that the model reads of its one batch differ");
}

double TrainStep::Run() {
  std::optional<LaterChecks::Scope> later;
  if (checks_) later.emplace(*checks_);
  model_.optimizer->ZeroGrad();
  if (options_.graph)
    ComputeAsGraph();
  else
    Compute();
  model_.model->EndMiniBatch();
  model_.optimizer->Step(model_.learning_rate);
  ++ctx_.step;
  if (checks_) checks_->Report();
  return loss_.Item();
}

}  // namespace torus::bench
