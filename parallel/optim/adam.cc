#include "parallel/optim/adam.h"

#include "autograd/low_copy.h"
#include "parallel/optim/kernels.h"
#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus::parallel {
namespace {

enum Kind { kMean, kVariance, kLargest, kStep };

void Check(const AdamOptions& o) {
  CheckAtLeast0("adam", "lr_scale", o.lr_scale);
  CheckAtLeast0("adam", "eps", o.eps);
  CheckAtLeast0("adam", "weight_decay", o.weight_decay);
  CheckBelow1("adam", "beta1", o.beta1);
  CheckBelow1("adam", "beta2", o.beta2);
}

void CheckState(const AdamGroup& group) {
  if (group.options.state == StateType::kF32) return;
  for (const auto& [parameter, value] : group.parameters)
    Require(value.dtype() == DType::kF32, "adam",
            "state in bf16 or 8 bits is for f32 parameters, got {} for {}", value, parameter);
}

AdamScalars ScalarsOf(const NamedVariable& parameter, const AdamOptions& o, double learning_rate,
                      double gradient_scale, double step) {
  return {learning_rate * o.lr_scale,
          o.maximize ? -gradient_scale : gradient_scale,
          o.beta1,
          o.beta2,
          o.eps,
          o.weight_decay,
          o.decoupled_decay,
          step,
          o.state == StateType::kF32 ? 0 : HashName(parameter.name.c_str())};
}

}  // namespace

Adam::Adam(const std::vector<AdamGroup>& groups)
    : Optimizer("adam", ParametersOf(groups)), options_(OptionsOf(groups)) {
  for (const AdamGroup& group : groups) Check(group.options);
  for (const AdamGroup& group : groups) CheckState(group);
  const std::vector<Tensor> none(options_.size());
  const auto types = ForEachOptions(groups, [](const AdamOptions& o) { return o.state; });
  state_ = {{"exp_avg", none, false, types, none, true},
            {"exp_avg_sq", none, false, types, none, false},
            {"max_exp_avg_sq", none, false, types, none, false},
            {"step", none, true}};
}

Adam::Adam(std::vector<NamedVariable> parameters, const AdamOptions& options)
    : Adam(std::vector<AdamGroup>{{std::move(parameters), options}}) {}

void Adam::Begin(size_t i) {
  const Tensor& like = parameters()[i].value.data();
  for (const Kind kind : {kMean, kVariance, kLargest})
    if (kind != kLargest || options_[i].amsgrad)
      state_[kind].Set(i, ZeroState(like, options_[i].state));
  state_[kStep].tensors[i] = Zeros({});
  StateMoved();
}

void Adam::Step(double learning_rate, double gradient_scale) {
  Prepare(learning_rate, gradient_scale);
  Update();
}

void Adam::Prepare(double learning_rate, double gradient_scale) {
  Require(learning_rate >= 0, "adam", "the learning rate must be at least 0, got {}",
          learning_rate);
  const std::vector<Tensor> gradients = Gradients();
  scalars_->clear();
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    if (!state_[kStep].tensors[i].defined()) Begin(i);
    const float step = *state_[kStep].tensors[i].mutable_data<float>() += 1;
    scalars_->push_back(
        ScalarsOf(parameters()[i], options_[i], learning_rate, gradient_scale, step));
  }
  MarkChanged();
}

void Adam::Update() {
  const std::vector<Tensor> gradients = Gradients();
  std::vector<AdamItem> items;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const auto state = [&](Kind kind) { return state_[kind].Of(i); };
    Variable parameter = parameters()[i].value;
    items.push_back({gradients[i].Contiguous(), parameter.mutable_data(), state(kMean),
                     state(kVariance), state(kLargest), KeptLowCopy(parameter)});
  }
  CheckPrepared(items.size(), scalars_->size());
  if (!items.empty()) kernels::AdamStep(items, scalars_);
  CopiesAreWritten();
}

std::vector<NamedTensor> Adam::State() const { return NamedState(parameters(), state_); }

void Adam::LoadState(const std::vector<NamedTensor>& state) {
  std::vector<StateKind> loaded = state_;
  LoadNamedState("adam", parameters(), state, loaded);
  for (size_t i = 0; i < options_.size(); ++i) {
    const bool begun = loaded[kStep].tensors[i].defined();
    bool whole = true;
    for (const Kind kind : {kMean, kVariance})
      whole = whole && loaded[kind].tensors[i].defined() == begun;
    whole = whole && loaded[kLargest].tensors[i].defined() == (begun && options_[i].amsgrad);
    Require(whole, "adam", "the state of {} must be whole: exp_avg, exp_avg_sq{} and step",
            parameters()[i].name, options_[i].amsgrad ? ", max_exp_avg_sq" : "");
  }
  state_ = std::move(loaded);
  StateMoved();
}

}  // namespace torus::parallel
