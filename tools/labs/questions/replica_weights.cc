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

std::vector<double> ValuesOf(const Variable& parameter) {
  return ToVector<double>(parameter.data().To(Device{}).To(DType::kF64));
}

double SquaredDistance(const Variable& a, const Variable& b) {
  const std::vector<double> x = ValuesOf(a), y = ValuesOf(b);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
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
  std::vector<double> distances;
  for (const std::vector<NamedVariable>& own : of_ranks_) {
    double sum = 0;
    for (size_t i = 0; i < own.size(); ++i)
      sum += SquaredDistance(own[i].value, of_ranks_[0][i].value);
    distances.push_back(std::sqrt(sum));
  }
  return distances;
}

double ReplicaWeights::Norm() const {
  double sum = 0;
  for (const NamedVariable& parameter : of_ranks_.at(0))
    for (const double value : ValuesOf(parameter.value)) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace torus::labs
