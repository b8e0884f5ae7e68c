#include "autograd/variable.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "autograd/variable_state.h"

namespace torus {
namespace {

const std::shared_ptr<Node> kNoNode;
const Tensor kNoTensor;

}  // namespace

internal::LowCopy& internal::LowCopyPlace(const Variable& leaf) {
  std::shared_ptr<LowCopy>& low = leaf.Defined("low_copy").state_->low;
  if (low == nullptr) low = std::make_shared<LowCopy>();
  return *low;
}

Variable::Variable(Tensor data, bool requires_grad) {
  Require(data.defined(), "variable", "needs a defined tensor");
  Require(!requires_grad || IsFloating(data.dtype()), "variable",
          "only floating-point tensors have gradients, got {}", data);
  state_ = std::make_shared<internal::VariableState>();
  state_->data = std::move(data);
  state_->requires_grad = requires_grad;
}

void internal::FailUndefinedInput(std::string_view op, std::span<const Variable* const> inputs) {
  std::vector<std::string> all;
  for (const Variable* input : inputs) all.push_back(fmt::format("{}", *input));
  Throw<BadInput>(op, "needs defined inputs, got {}", fmt::join(all, " and "));
}

const Variable& Variable::Defined(const char* what) const {
  if (!defined()) [[unlikely]]
    Throw<internal::UndefinedVariable>(what, "needs a defined variable, got an undefined one");
  return *this;
}

const Variable& Variable::Leaf(const char* what) const {
  if (defined() && state_->node != nullptr) [[unlikely]]
    Throw<BadInput>(
        what,
        "{} is a result of {}, and backwards keep gradients of leaves alone; go on from "
        "a leaf Variable(result.data(), true) to have one here",
        state_->data, state_->node->op());
  return *this;
}

const Tensor& Variable::data() const { return Defined("data").state_->data; }

void Variable::SetData(Tensor data) {
  Require(is_leaf(), "set_data", "only a leaf's tensor can be replaced");
  Require(data.shape() == shape() && data.dtype() == dtype(), "set_data", "needs {}, got {}",
          state_->data, data);
  state_->data = std::move(data);
  state_->low = nullptr;
}

Tensor& Variable::mutable_data() { return Defined("data").state_->data; }

bool Variable::requires_grad() const { return defined() && state_->requires_grad; }

bool Variable::is_leaf() const { return defined() && state_->node == nullptr; }

const Tensor& Variable::grad() const { return Leaf("grad").defined() ? state_->grad : kNoTensor; }

Tensor& Variable::mutable_grad() { return Leaf("grad").Defined("grad").state_->grad; }

void Variable::SetGrad(Tensor grad) {
  Require(is_leaf(), "set_grad", "only a leaf has a gradient of its own");
  Require(!grad.defined() || (grad.shape() == shape() && grad.dtype() == dtype() &&
                              grad.device() == state_->data.device()),
          "set_grad", "needs {}, got {}", state_->data, grad);
  state_->grad = std::move(grad);
}

void Variable::ZeroGrad() { SetGrad(Tensor()); }

Variable Variable::Detach() const { return Variable(data()); }

void Variable::AddHook(Hook hook) {
  Require(is_leaf() && requires_grad(), "add_hook", "needs a leaf that requires a gradient");
  state_->hooks.push_back(std::move(hook));
}

const std::shared_ptr<Node>& Variable::node() const { return defined() ? state_->node : kNoNode; }

int Variable::output_index() const { return defined() ? state_->output_index : 0; }

}  // namespace torus
