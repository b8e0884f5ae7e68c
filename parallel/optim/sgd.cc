#include "parallel/optim/sgd.h"

#include "autograd/low_copy.h"
#include "parallel/optim/kernels.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

void Check(const SgdOptions& o) {
  CheckAtLeast0("sgd", "lr_scale", o.lr_scale);
  CheckAtLeast0("sgd", "momentum", o.momentum);
  CheckAtLeast0("sgd", "weight_decay", o.weight_decay);
  Require(!o.nesterov || (o.momentum > 0 && o.dampening == 0), "sgd",
          "Nesterov needs momentum above 0 and no dampening, got momentum {}, dampening {}",
          o.momentum, o.dampening);
}

}  // namespace

Sgd::Sgd(const std::vector<SgdGroup>& groups)
    : Optimizer("sgd", ParametersOf(groups)), options_(OptionsOf(groups)) {
  for (const SgdGroup& group : groups) Check(group.options);
  state_ = {{"momentum_buffer", std::vector<Tensor>(options_.size())}};
}

Sgd::Sgd(std::vector<NamedVariable> parameters, const SgdOptions& options)
    : Sgd(std::vector<SgdGroup>{{std::move(parameters), options}}) {}

void Sgd::Step(double learning_rate, double gradient_scale) {
  Prepare(learning_rate, gradient_scale);
  Update();
}

void Sgd::Prepare(double learning_rate, double gradient_scale) {
  Require(learning_rate >= 0, "sgd", "the learning rate must be at least 0, got {}", learning_rate);
  const std::vector<Tensor> gradients = Gradients();
  scalars_->clear();
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const SgdOptions& o = options_[i];
    Tensor& buffer = state_[0].tensors[i];
    const bool first = o.momentum != 0 && !buffer.defined();
    if (first) {
      buffer = Empty(gradients[i].shape(), gradients[i].dtype(), gradients[i].device());
      StateMoved();
    }
    scalars_->push_back({learning_rate * o.lr_scale, o.maximize ? -gradient_scale : gradient_scale,
                         o.momentum, o.dampening, o.weight_decay, o.nesterov, first});
  }
  MarkChanged();
}

void Sgd::Update() {
  const std::vector<Tensor> gradients = Gradients();
  std::vector<SgdItem> items;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    Variable parameter = parameters()[i].value;
    items.push_back({gradients[i].Contiguous(), parameter.mutable_data(),
                     options_[i].momentum != 0 ? state_[0].tensors[i] : Tensor(),
                     KeptLowCopy(parameter)});
  }
  CheckPrepared(items.size(), scalars_->size());
  if (!items.empty()) kernels::SgdStep(items, scalars_);
  CopiesAreWritten();
}

std::vector<NamedTensor> Sgd::State() const { return NamedState(parameters(), state_); }

void Sgd::LoadState(const std::vector<NamedTensor>& state) {
  LoadNamedState("sgd", parameters(), state, state_);
  StateMoved();
}

}  // namespace torus::parallel
