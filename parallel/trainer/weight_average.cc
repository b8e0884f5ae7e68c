#include "parallel/trainer/weight_average.h"

#include <algorithm>
#include <utility>

#include "parallel/optim/kernels.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

const NamedTensor& Find(const std::vector<NamedTensor>& state, const NamedVariable& parameter) {
  const auto found = std::find_if(state.begin(), state.end(), [&](const NamedTensor& tensor) {
    return tensor.name == parameter.name;
  });
  Require(found != state.end(), "averages", "must have {}", parameter.name);
  const Tensor& weight = parameter.value.data();
  Require(found->value.shape() == weight.shape() && found->value.dtype() == weight.dtype(),
          "averages", "{} must be {}, got {}", parameter.name, weight, found->value);
  return *found;
}

}  // namespace

WeightAverage::WeightAverage(std::vector<NamedVariable> parameters, double decay)
    : parameters_(std::move(parameters)), decay_(decay) {}

void WeightAverage::Update() {
  if (averages_.empty()) {
    for (const NamedVariable& p : parameters_) averages_.push_back(p.value.data().Clone());
    return;
  }
  std::vector<Tensor> weights;
  for (const NamedVariable& p : parameters_) weights.push_back(p.value.data());
  kernels::MoveTowards(weights, 1 - decay_, averages_);
}

std::vector<NamedTensor> WeightAverage::State() const {
  std::vector<NamedTensor> state;
  for (size_t i = 0; i < averages_.size(); ++i)
    state.push_back({parameters_[i].name, averages_[i]});
  return state;
}

void WeightAverage::LoadState(const std::vector<NamedTensor>& state) {
  std::vector<Tensor> averages;
  if (!state.empty())
    for (const NamedVariable& p : parameters_)
      averages.push_back(Find(state, p).value.To(p.value.data().device()).Clone());
  averages_ = std::move(averages);
}

void WeightAverage::Swap() {
  for (size_t i = 0; i < averages_.size(); ++i) {
    const Tensor average = averages_[i].Clone();
    Copy(parameters_[i].value.data(), averages_[i]);
    Copy(average, parameters_[i].value.mutable_data());
  }
}

}  // namespace torus::parallel
