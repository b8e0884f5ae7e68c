// Distributed data parallelism (Li et al. 2020, "PyTorch Distributed: experiences on accelerating
// data parallel training"): replicas all-reduce their gradients, then each takes the same step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/collectives/all_reduce.h"
#include "parallel/data_parallel/gradient_buckets.h"
#include "parallel/data_parallel/replica_strategy.h"

namespace torus::parallel {

struct DataParallelOptions {
  size_t bucket_bytes = size_t{4} << 20;
  AllReduceAlgorithm all_reduce = AllReduceAlgorithm::kDirect;
};

// An all-reduce makes each sum once and copies it: all replicas end with equal bits, and since the
// optimizer does the same to equal bits, parameters that began equal stay equal. A direct
// all-reduce also adds in one order, so that the sums depend neither on the buckets nor on where
// the model is cut into stages.
class DataParallel : public ReplicaStrategy {
 public:
  DataParallel(Transport& replicas, std::vector<NamedVariable> uses,
               DataParallelOptions options = {});

  // With one replica it does nothing.
  void ReduceGradients(const std::string& what, double share) override;

  // Bytes that this replica sends in one ReduceGradients.
  uint64_t BytesPerStep() const;

 private:
  GradientBuckets buckets_;
  AllReduceAlgorithm all_reduce_;
};

}  // namespace torus::parallel
