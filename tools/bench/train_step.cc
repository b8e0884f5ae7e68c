#include "tools/bench/train_step.h"

#include "autograd/backward.h"
#include "models/checkpoint/state_dict.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "ops/loss/cross_entropy.h"
#include "runtime/io/safetensors.h"
#include "runtime/rng.h"

namespace torus::bench {
namespace {

// Takes the tensor of that name out of the list.
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

Tensor RandomLabels(int64_t count, int64_t classes) {
  const RandomStream stream({.layer = HashName("bench labels")});
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i)
    labels.push_back(static_cast<int64_t>(
        stream.Below(static_cast<uint64_t>(i), static_cast<uint64_t>(classes))));
  return FromVector(labels, {count});
}

}  // namespace

TrainStep::TrainStep(const TrainStepOptions& options) : options_(options) {
  Tensor images = Empty({options.batch, options.size, options.size, 3});
  FillNormal(images, 0, 1, RandomStream({.layer = HashName("bench images")}));
  labels_ = Variable(RandomLabels(options.batch, options.num_classes));
  Build(images);
  model_->Initialize(1);
}

TrainStep::TrainStep(TrainStepOptions options, const std::string& exchange) : options_(options) {
  std::vector<NamedTensor> tensors = ReadSafetensors(exchange).tensors;
  const Tensor images = Extract(tensors, "images", exchange);
  labels_ = Variable(Extract(tensors, "labels", exchange));
  Require(images.rank() == 4 && images.dim(1) == 3 && images.dim(2) == images.dim(3), exchange,
          "images must be (N, 3, S, S), got {}", ToString(images.shape()));
  options_.batch = images.dim(0);
  options_.size = images.dim(2);
  Build(images.Permute({0, 2, 3, 1}).Contiguous());
  LoadStateDict(*model_, tensors, exchange);
}

void TrainStep::Build(const Tensor& images) {
  model_ = MobileNetV2({.num_classes = options_.num_classes, .dropout = 0});
  optimizer_ = std::make_unique<parallel::Sgd>(model_->Parameters(),
                                               parallel::SgdOptions{.momentum = options_.momentum});
  images_ = Variable(images);
  for (int64_t i = 0; i < images.dim(0); ++i) ctx_.samples.push_back(i);
  flops_ = 3 * static_cast<double>(model_->Cost(images.shape()).flops);
}

double TrainStep::Run() {
  optimizer_->ZeroGrad();
  const Variable loss = ops::CrossEntropy(model_->Forward(images_, ctx_), labels_);
  Backward({loss});
  model_->EndMiniBatch();
  optimizer_->Step(options_.learning_rate);
  ++ctx_.step;
  return loss.data().Item();
}

}  // namespace torus::bench
