// WeightExchange: replicas that take steps of their own, as Unsynchronized does, and exchange
// weights instead of gradients. The base class of LocalSgd, Diloco and Gossip.
//
// Each replica has an optimizer, whose state stays its own, and clips by the norm of its own
// gradient. What a run evaluates and stores as its weights is the mean of all replicas' weights.
#pragma once

#include <string>
#include <vector>

#include "parallel/data_parallel/data_parallel.h"
#include "parallel/data_parallel/unsynchronized.h"

namespace torus::parallel {

class WeightExchange : public Unsynchronized {
 public:
  // `options` say how weights are summed over replicas: in the buckets and the order in which ddp
  // sums gradients. The codec is not used: a sum of weights is exact up to its rounding.
  WeightExchange(Communicator& replicas, std::vector<NamedVariable> uses,
                 const DataParallelOptions& options);

  bool exchanges_weights() const override { return true; }
  void BroadcastWeights(const std::string& what) override;
  void EnterMean(const std::string& what) override;
  void LeaveMean() override;
  std::vector<NamedTensor> Weights(const std::string& what) override;

 protected:
  // Those that are trained, each once.
  const std::vector<NamedVariable>& parameters() const { return parameters_; }
  // For each of them, the mean over the replicas: the sum in the order of the all-reduce, times
  // 1 / replicas. In memory of its own; all replicas get the same bits.
  std::vector<Tensor> MeanWeights(const std::string& what);
  // The same of other tensors, one for each parameter and of its shape, by the sums of `sums`.
  // Overwrites `terms`.
  std::vector<Tensor> Mean(DataParallel& sums, const std::vector<Tensor>& terms,
                           const std::string& what);
  // The uses whose gradients such sums take: each parameter once.
  const std::vector<NamedVariable>& summed() const { return summed_; }
  std::vector<Tensor> CopyWeights() const;
  void ReplaceWeights(const std::vector<Tensor>& weights);

 private:
  const std::vector<NamedVariable> summed_, parameters_;
  DataParallel sums_;
  std::vector<Tensor> own_;  // between EnterMean and LeaveMean, if replicas were apart
};

}  // namespace torus::parallel
