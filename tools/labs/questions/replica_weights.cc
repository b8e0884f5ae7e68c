#include "tools/labs/questions/replica_weights.h"

#include <cmath>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::labs {
namespace {

std::vector<NamedVariable> ParametersOf(const std::vector<parallel::Block>& blocks) {
  std::vector<NamedVariable> all;
  for (const parallel::Block& block : blocks)
    all.insert(all.end(), block.parameters.begin(), block.parameters.end());
  return all;
}

std::vector<float> ValuesOf(const Variable& parameter) {
  return ToVector<float>(parameter.data().To(Device{}));
}

double SquaredDistance(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double difference = static_cast<double>(x[i]) - y[i];
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

void ReplicaWeights::Add(const std::vector<parallel::Block>& blocks) {
  of_ranks_.push_back(ParametersOf(blocks));
}

void ReplicaWeights::Set(size_t rank, const std::vector<parallel::Block>& blocks) {
  const std::vector<NamedVariable> values = ParametersOf(blocks);
  std::vector<NamedVariable>& own = of_ranks_.at(rank);
  Require(values.size() == own.size(), "labs", "rank {} has {} parameters, got {}", rank,
          own.size(), values.size());
  for (size_t i = 0; i < own.size(); ++i) {
    Require(values[i].name == own[i].name, "labs", "needs {}, got {}", own[i].name, values[i].name);
    Copy(values[i].value.data(), own[i].value.mutable_data());
  }
}

std::vector<double> ReplicaWeights::Distances() const {
  std::vector<double> squares(of_ranks_.size());
  for (size_t i = 0; i < of_ranks_.at(0).size(); ++i) {
    const std::vector<float> first = ValuesOf(of_ranks_[0][i].value);
    for (size_t rank = 1; rank < of_ranks_.size(); ++rank)
      squares[rank] += SquaredDistance(ValuesOf(of_ranks_[rank][i].value), first);
  }
  for (double& square : squares) square = std::sqrt(square);
  return squares;
}

double ReplicaWeights::Norm() const {
  double sum = 0;
  for (const NamedVariable& parameter : of_ranks_.at(0))
    for (const double value : ValuesOf(parameter.value)) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace torus::labs
