// Sharded: every element of the weights is held by one replica, which sums its gradient, updates it
// and sends the new value to the others. Depending on what the replicas hold (shard_plan.h) it is
//
//   torch.nn.DataParallel's way   replica 0 holds all, and broadcasts the weights
//   a parameter server            replica 0 holds all, and sends the weights to each
//   servers that share the work   whole parameters each (Li et al. 2014, "Scaling distributed
//                                 machine learning with the parameter server")
//   ZeRO stage 1                  equal shares (Rajbhandari et al. 2020, "ZeRO: memory
//                                 optimizations toward training trillion parameter models")
//
// With P bytes of weights, n replicas together send (n - 1) P bytes of gradients and (n - 1) P of
// weights in a step, as many as an all-reduce.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "parallel/data_parallel/replica_strategy.h"
#include "parallel/data_parallel/shard_state.h"

namespace torus::parallel {

struct ShardedOptions {
  size_t bucket_bytes = size_t{4} << 20;  // of the messages to all replicas together
  bool broadcast = false;                 // weights are broadcast along a tree from replica 0
};

class Sharded : public ReplicaStrategy {
 public:
  // `plan` must have every parameter.
  Sharded(Communicator& replicas, std::vector<NamedVariable> uses, const ShardPlan& plan,
          ShardedOptions options = {});

  void ReduceGradients(const std::string& what, double share) override;
  std::vector<double> SquaredNorms(const std::string& what) override;
  void PublishWeights(const std::string& what) override;
  std::vector<NamedTensor> Whole(std::vector<NamedTensor> own,
                                 const std::vector<std::string>& parameters,
                                 const std::string& what) override;
  std::vector<NamedTensor> OwnPart(std::vector<NamedTensor> whole) const override;

 protected:
  const ShardSpecs& specs() const { return specs_; }
  const std::vector<ElementRange>& RangesOf(size_t use) const {
    return specs_.at(uses()[use].name).ranges;
  }
  const ElementRange& OwnRange(size_t use) const { return RangesOf(use)[replicas().rank()]; }
  // Gathers the parameters from what all replicas hold, without bumping their versions: for a graph
  // that saved them the values are unchanged.
  void GatherHeld(const std::string& what);
  // Marks the weights as changed.
  void BumpVersions();

 private:
  using Bucket = std::vector<size_t>;  // uses
  std::vector<int32_t> CountGradients(const std::string& what);
  template <class T>
  void ReduceBucket(const Bucket& bucket, const std::string& what);
  template <class T>
  void ReduceOne(size_t use, const std::string& what);
  template <class T>
  void GatherBucket(const Bucket& bucket, const std::string& what);
  template <class T>
  void GatherOne(size_t use, const std::string& what);
  template <class T>
  std::vector<std::span<T>> RowsIn(T* whole, size_t use) const;
  std::vector<const std::vector<ElementRange>*> RangesOf(const Bucket& bucket) const;
  Tensor TakeGradient(size_t use);
  template <class T>
  void Hold(size_t use, const T* sums);

  const ShardedOptions options_;
  ShardSpecs specs_;
  std::vector<Bucket> gradients_, weights_;  // weights_: each parameter once
};

}  // namespace torus::parallel
