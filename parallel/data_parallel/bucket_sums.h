// BucketSums: sums the gradient buckets of a step over replicas, one after another in a fixed
// order, overlapping the backward that computes them. Internal to DataParallel.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "parallel/collectives/communicator.h"
#include "parallel/data_parallel/gradient_buckets.h"

namespace torus::parallel {

class BucketSums {
 public:
  // In CPU memory one bucket is summed after another. On GPUs, where the communicator must have an
  // engine, all that are filled are: gradients are copied to a bucket in the current stream and
  // summed in a stream of the engine, and the CPU waits until the other replicas have arrived, but
  // for no GPU. `lane`: that of the sums (communicator.h). The references must outlive it.
  BucketSums(Communicator& replicas, GradientBuckets& buckets, int lane);
  virtual ~BucketSums() = default;
  BucketSums(const BucketSums&) = delete;
  BucketSums& operator=(const BucketSums&) = delete;

  // Call before the last backward of a step; `what` is for errors.
  void Begin(const std::string& what);
  // Call when the gradient of `leaf`, a parameter of the bucket, is complete.
  void GradientIsWhole(int bucket, const Variable& leaf);
  // Continues the sums without waiting for other replicas.
  void Advance();
  // Completes all sums and sets them as the parameters' gradients.
  void Finish(const std::string& what);

 protected:
  // Starts the sum of a filled bucket.
  virtual std::unique_ptr<PendingCollective> Start(int i);

  Communicator& replicas() const { return replicas_; }
  GradientBuckets& buckets() { return buckets_; }
  const GradientBuckets& buckets() const { return buckets_; }
  int lane() const { return lane_; }
  std::string NameOf(int i) const;  // name of a bucket's sum, for errors

 private:
  PendingCollective& Running(int i);
  bool Run(int i);
  void Take(int i);

  Communicator& replicas_;
  GradientBuckets& buckets_;
  const int lane_;
  const bool on_gpus_;
  std::string what_;
  bool armed_ = false;                          // between Begin and Finish
  int next_ = 0;                                // bucket that runs or starts next
  std::vector<std::set<const void*>> missing_;  // of each bucket: leaves without whole gradient
  std::vector<std::unique_ptr<PendingCollective>> running_;  // of each bucket
};

}  // namespace torus::parallel
