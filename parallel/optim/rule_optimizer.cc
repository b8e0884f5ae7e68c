#include "parallel/optim/rule_optimizer.h"

#include <map>

#include "autograd/low_copy.h"
#include "parallel/optim/kernels.h"
#include "parallel/optim/rule_kernels.h"
#include "runtime/error.h"

namespace torus::parallel {

RuleOptimizer::RuleOptimizer(const char* name, std::vector<NamedVariable> parameters,
                             std::vector<std::vector<Kind>> kinds,
                             const std::vector<std::string>& counters)
    : Optimizer(name, std::move(parameters)), name_(name), kinds_(std::move(kinds)) {
  const std::vector<Tensor> none(kinds_.size());
  for (const std::vector<Kind>& own : kinds_)
    for (const Kind& kind : own) {
      bool known = kind.name == nullptr;
      for (const StateKind& state : state_) known = known || state.name == kind.name;
      if (!known) state_.push_back({kind.name, none});
    }
  steps_ = state_.size();
  state_.push_back({"step", none, true});
  for (const std::string& counter : counters) state_.push_back({counter, none, true});
}

Tensor RuleOptimizer::StateOf(size_t i, size_t kind) const {
  if (kind >= kinds_[i].size() || kinds_[i][kind].name == nullptr) return {};
  for (const StateKind& state : state_)
    if (state.name == kinds_[i][kind].name) return state.tensors[i];
  return {};
}

Tensor RuleOptimizer::Initial(const Tensor& like, const Kind& kind) {
  return kind.of_parameter ? like.Clone()
                           : Full(like.shape(), kind.initial, like.dtype(), like.device());
}

void RuleOptimizer::Begin(size_t i) {
  const Tensor& like = parameters()[i].value.data();
  for (const Kind& kind : kinds_[i])
    for (StateKind& state : state_)
      if (kind.name != nullptr && state.name == kind.name) state.tensors[i] = Initial(like, kind);
  for (size_t k = steps_; k < state_.size(); ++k) state_[k].tensors[i] = Zeros({});
  StateMoved();
}

float& RuleOptimizer::Counter(size_t i, size_t counter) {
  return *state_[steps_ + 1 + counter].tensors[i].mutable_data<float>();
}

void RuleOptimizer::Step(double learning_rate, double gradient_scale) {
  Prepare(learning_rate, gradient_scale);
  Update();
}

void RuleOptimizer::Prepare(double learning_rate, double gradient_scale) {
  Require(learning_rate >= 0, name_, "the learning rate must be at least 0, got {}", learning_rate);
  const std::vector<size_t> some = WithGradient();
  ClearScalars();
  for (const size_t i : some) {
    if (!Steps()[i].defined()) Begin(i);
    const float step = *state_[steps_].tensors[i].mutable_data<float>() += 1;
    AddScalars(i, learning_rate, gradient_scale, step);
  }
  MarkChanged();
}

std::vector<size_t> RuleOptimizer::Begun() const {
  std::vector<size_t> begun;
  for (size_t i = 0; i < Steps().size(); ++i)
    if (Steps()[i].defined()) begun.push_back(i);
  return begun;
}

std::vector<size_t> RuleOptimizer::WithGradient() const {
  const std::vector<Tensor> gradients = Gradients();
  std::vector<size_t> with;
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined()) with.push_back(i);
  return with;
}

std::vector<RuleItem> RuleOptimizer::Items(const std::vector<size_t>& some) {
  std::vector<RuleItem> items;
  for (const size_t i : some) {
    Variable parameter = parameters()[i].value;
    const Tensor& gradient = parameter.grad();
    items.push_back({gradient.defined() ? gradient.Contiguous() : parameter.data(),
                     parameter.mutable_data(),
                     {StateOf(i, 0), StateOf(i, 1), StateOf(i, 2)}});
  }
  return items;
}

void RuleOptimizer::RoundCopies(const std::vector<size_t>& some) const {
  std::map<DType, std::vector<Tensor>> from, to;
  for (const size_t i : some) {
    const Variable& parameter = parameters()[i].value;
    const Tensor low = KeptLowCopy(parameter);
    if (!low.defined()) continue;
    from[low.dtype()].push_back(parameter.data());
    to[low.dtype()].push_back(low);
  }
  for (auto& [dtype, copies] : to) kernels::RoundAll(from[dtype], copies);
}

void RuleOptimizer::Update() {
  const std::vector<size_t> some = WithGradient();
  CheckPrepared(some.size(), CountScalars());
  std::vector<RuleItem> items = Items(some);
  if (!items.empty()) Run(items);
  RoundCopies(some);
  CopiesAreWritten();
}

std::vector<NamedTensor> RuleOptimizer::State() const { return NamedState(parameters(), state_); }

void RuleOptimizer::LoadState(const std::vector<NamedTensor>& state) {
  std::vector<StateKind> loaded = state_;
  LoadNamedState(name_, parameters(), state, loaded);
  for (size_t i = 0; i < parameters().size(); ++i)
    for (const StateKind& kind : loaded) {
      bool wanted = kind.counter;
      for (const Kind& own : kinds_[i]) wanted = wanted || (own.name && kind.name == own.name);
      const bool begun = loaded[steps_].tensors[i].defined();
      Require(kind.tensors[i].defined() == (wanted && begun), name_,
              "the state of {} must be whole, and is {} {}", parameters()[i].name,
              wanted && begun ? "without" : "with", kind.name);
    }
  state_ = std::move(loaded);
  StateMoved();
}

}  // namespace torus::parallel
