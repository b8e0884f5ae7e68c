#include "parallel/trainer/weight_average.h"

#include <algorithm>
#include <utility>

#include "parallel/optim/multi_tensor.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

template <class T>
void MoveTowards(T* average, const T* weight, T share, int64_t count) {
  for (int64_t i = 0; i < count; ++i) average[i] += share * (weight[i] - average[i]);
}

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
  std::vector<int64_t> sizes;
  for (const Tensor& average : averages_) sizes.push_back(average.numel());
  ForEachPiece(sizes, [&](size_t i, int64_t begin, int64_t end) {
    const Tensor& weight = parameters_[i].value.data();
    VisitCompute("averages", weight.dtype(), [&]<class T>(ComputeType<T>) {
      MoveTowards(static_cast<T*>(averages_[i].mutable_raw()) + begin, weight.data<T>() + begin,
                  static_cast<T>(1 - decay_), end - begin);
    });
  });
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
      averages.push_back(Find(state, p).value.Contiguous().Clone());
  averages_ = std::move(averages);
}

void WeightAverage::Swap() {
  for (size_t i = 0; i < averages_.size(); ++i) {
    auto* average = static_cast<std::byte*>(averages_[i].mutable_raw());
    std::swap_ranges(average, average + averages_[i].bytes(),
                     static_cast<std::byte*>(parameters_[i].value.mutable_data().mutable_raw()));
  }
}

}  // namespace torus::parallel
