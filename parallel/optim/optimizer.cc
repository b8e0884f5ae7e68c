#include "parallel/optim/optimizer.h"

#include <cmath>
#include <set>

#include "autograd/low_copy.h"
#include "runtime/error.h"

namespace torus::parallel {

void CheckAtLeast0(const char* optimizer, const char* what, double value) {
  Require(value >= 0 && std::isfinite(value), optimizer, "{} must be finite and at least 0, got {}",
          what, value);
}

void CheckBelow1(const char* optimizer, const char* what, double value) {
  Require(value >= 0 && value < 1, optimizer, "{} must lie in [0, 1), got {}", what, value);
}

Optimizer::Optimizer(const std::string& name, std::vector<NamedVariable> parameters)
    : name_(name), parameters_(std::move(parameters)) {
  std::set<std::string> seen;
  for (const auto& [parameter, value] : parameters_) {
    Require(seen.insert(parameter).second, name, "parameter {} is given twice", parameter);
    Require(value.is_leaf(), name, "parameter {} is no leaf", parameter);
    const DType dtype = value.dtype();
    Require((dtype == DType::kF32 || dtype == DType::kF64) && value.data().is_contiguous(), name,
            "parameter {} must be contiguous f32 or f64, got {}", parameter, value);
  }
}

uint64_t Optimizer::StateBytes() const {
  uint64_t bytes = 0;
  for (const NamedTensor& tensor : State()) bytes += tensor.value.bytes();
  return bytes;
}

void Optimizer::ZeroGrad() {
  for (NamedVariable& parameter : parameters_) parameter.value.ZeroGrad();
}

std::vector<Tensor> Optimizer::Gradients() const {
  std::vector<Tensor> gradients;
  for (const auto& [parameter, value] : parameters_) {
    const Tensor& grad = value.grad();
    Require(!grad.defined() || (grad.shape() == value.shape() && grad.dtype() == value.dtype()),
            name_, "the gradient of {} must be {}, got {}", parameter, value, grad);
    gradients.push_back(grad);
  }
  return gradients;
}

void Optimizer::CheckPrepared(size_t updated, size_t prepared) {
  Require(updated == prepared, "optimizer",
          "an update is of the parameters that it was prepared for: {} had a gradient, {} have one",
          prepared, updated);
}

void Optimizer::MarkChanged() {
  for (NamedVariable& parameter : parameters_)
    if (parameter.value.grad().defined()) parameter.value.mutable_data().mutable_raw();
}

void Optimizer::CopiesAreWritten() {
  for (const NamedVariable& parameter : parameters_)
    if (parameter.value.grad().defined()) LowCopyIsWritten(parameter.value);
}

void Optimizer::RefuseHalves() const {
  TORUS_CHECK(splits(), "a step of {} is in one piece", name_);
  TORUS_CHECK(false, "{} says that it splits and has no halves", name_);
}

}  // namespace torus::parallel
