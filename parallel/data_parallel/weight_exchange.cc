#include "parallel/data_parallel/weight_exchange.h"

#include <map>
#include <set>
#include <utility>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

std::vector<NamedVariable> EachOnce(const std::vector<NamedVariable>& uses) {
  std::set<std::string> seen;
  std::vector<NamedVariable> once;
  for (const NamedVariable& use : uses)
    if (seen.insert(use.name).second) once.push_back(use);
  return once;
}

std::vector<NamedVariable> Trained(std::vector<NamedVariable> parameters) {
  std::erase_if(parameters, [](const NamedVariable& p) { return !p.value.requires_grad(); });
  return parameters;
}

DataParallelOptions Uncoded(DataParallelOptions options) {
  options.codec = nullptr;
  return options;
}

}  // namespace

WeightExchange::WeightExchange(Communicator& replicas, std::vector<NamedVariable> all,
                               const DataParallelOptions& options)
    : Unsynchronized(replicas, std::move(all)),
      summed_(EachOnce(uses())),
      parameters_(Trained(summed_)),
      sums_(replicas, summed_, Uncoded(options)) {}

// The uses of a tied weight share their memory.
void WeightExchange::BroadcastWeights(const std::string& what) { sums_.BroadcastWeights(what); }

// What is to be summed stands in for gradients, which nothing else needs between two steps.
std::vector<Tensor> WeightExchange::Mean(DataParallel& sums, const std::vector<Tensor>& terms,
                                         const std::string& what) {
  TORUS_CHECK(terms.size() == parameters_.size());
  Variable leaf;
  for (size_t i = 0; i < terms.size(); ++i) {
    leaf = parameters_[i].value;
    leaf.SetGrad(terms[i]);
  }
  sums.ReduceGradients(what, 1);
  std::vector<Tensor> means;
  for (const NamedVariable& parameter : parameters_) {
    leaf = parameter.value;
    means.push_back(leaf.grad().Contiguous());
    leaf.ZeroGrad();
    ScaleInPlace(means.back(), 1.0 / replicas().size());
  }
  return means;
}

std::vector<Tensor> WeightExchange::MeanWeights(const std::string& what) {
  return Mean(sums_, CopyWeights(), "weights, " + what);
}

std::vector<Tensor> WeightExchange::CopyWeights() const {
  std::vector<Tensor> copies;
  for (const NamedVariable& parameter : parameters_)
    copies.push_back(parameter.value.data().Clone());
  return copies;
}

void WeightExchange::ReplaceWeights(const std::vector<Tensor>& weights) {
  Variable leaf;
  for (size_t i = 0; i < weights.size(); ++i) {
    leaf = parameters_[i].value;
    Copy(weights[i], leaf.mutable_data());
  }
}

void WeightExchange::EnterMean(const std::string& what) {
  if (!is_apart()) return;
  own_ = CopyWeights();
  ReplaceWeights(MeanWeights(what));
}

void WeightExchange::LeaveMean() { ReplaceWeights(std::exchange(own_, {})); }

std::vector<NamedTensor> WeightExchange::Weights(const std::string& what) {
  std::vector<NamedTensor> weights = Unsynchronized::Weights(what);
  if (!is_apart()) return weights;
  const std::vector<Tensor> means = MeanWeights(what);
  std::map<std::string, Tensor> by_name;
  for (size_t i = 0; i < means.size(); ++i) by_name[parameters_[i].name] = means[i];
  for (NamedTensor& weight : weights)
    if (const auto mean = by_name.find(weight.name); mean != by_name.end())
      weight.value = mean->second;
  return weights;
}

}  // namespace torus::parallel
