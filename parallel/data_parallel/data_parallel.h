// Synchronous data parallelism: replicas of a stage sum their gradients, then each takes the same
// step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/collectives/all_reduce.h"
#include "parallel/data_parallel/gradient_buckets.h"

namespace torus::parallel {

struct DataParallelOptions {
  size_t bucket_bytes = size_t{4} << 20;
  AllReduceAlgorithm all_reduce = AllReduceAlgorithm::kDirect;
};

// What one replica of one stage does.
//
// The sum needs no division: a micro-batch's gradient is weighted by its samples over those of the
// *global* mini-batch already (Executor), so the replicas' sums add up to the gradient of the mean
// loss, also when the last batch is shared unevenly. An all-reduce makes each sum once and copies
// it: all replicas end with equal bits, and since the optimizer does the same to equal bits,
// parameters that began equal stay equal. A direct all-reduce also adds in replica order, so that
// the sums depend neither on the buckets nor on where the model is cut into stages.
class DataParallel {
 public:
  // `replicas`: the transport (a Group) between the replicas of this stage; must outlive this. All
  // of them pass parameters of the same names and shapes, in the same order.
  DataParallel(Transport& replicas, std::vector<NamedVariable> parameters,
               DataParallelOptions options = {});

  // Called by all replicas, once the stage's last backward is done. With one replica it does
  // nothing. `what` stands in the errors ("step 17, stage 1").
  void ReduceGradients(const std::string& what);

  // Copies the parameters and `buffers` of replica 0 to all, bit for bit.
  void BroadcastState(const std::vector<NamedTensor>& buffers);
  // Copies `buffers` of replica 0 alone.
  void BroadcastBuffers(const std::vector<NamedTensor>& buffers);

  // Bytes that this replica sends in one ReduceGradients.
  uint64_t BytesPerStep() const;

 private:
  Transport& replicas_;
  std::vector<NamedVariable> parameters_;
  GradientBuckets buckets_;
  AllReduceAlgorithm all_reduce_;
};

}  // namespace torus::parallel
