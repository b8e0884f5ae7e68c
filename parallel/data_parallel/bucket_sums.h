// BucketSums: sums the gradient buckets of a step over replicas, one after another in a fixed
// order, overlapping the backward that computes them. Internal to DataParallel.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "parallel/collectives/direct.h"
#include "parallel/collectives/engine_all_reduce.h"
#include "parallel/data_parallel/gradient_buckets.h"

namespace torus::parallel {

// Decides when each bucket is summed; derived classes say how.
class BucketSums {
 public:
  explicit BucketSums(GradientBuckets& buckets) : buckets_(buckets) {}
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
  // Starts or continues bucket i without waiting. Returns whether the next bucket may start.
  virtual bool Run(int i) = 0;
  // The same, but waits until the next bucket may start.
  virtual void RunToEnd(int i) = 0;
  // Called after the last bucket.
  virtual void End() {}
  // Whether a bucket has started and the next may not start yet.
  virtual bool runs() const { return false; }

  GradientBuckets& buckets() { return buckets_; }
  const GradientBuckets& buckets() const { return buckets_; }
  std::string NameOf(int i) const;  // name of a bucket's sum, for errors

 private:
  GradientBuckets& buckets_;
  std::string what_;
  bool armed_ = false;                          // between Begin and Finish
  int next_ = 0;                                // bucket that runs or starts next
  std::vector<std::set<const void*>> missing_;  // of each bucket: leaves without whole gradient
};

// Sums by a direct all-reduce in CPU memory (direct.h), one bucket at a time.
class DirectBucketSums : public BucketSums {
 public:
  DirectBucketSums(Transport& replicas, GradientBuckets& buckets, int lane)
      : BucketSums(buckets), replicas_(replicas), lane_(lane) {}

 protected:
  // Starts the sum of a filled bucket.
  virtual std::unique_ptr<PendingAllReduce> Start(int i);

  Transport& replicas() const { return replicas_; }
  int lane() const { return lane_; }

 private:
  bool Run(int i) override;
  void RunToEnd(int i) override;
  bool runs() const override { return running_ != nullptr; }
  PendingAllReduce& Running(int i);
  void Take(int i);

  Transport& replicas_;
  const int lane_;
  std::unique_ptr<PendingAllReduce> running_;
};

// Sums in GPU memory by an engine (NCCL): gradients are copied to a bucket in the current stream
// and summed in a stream of the engine, one bucket after another. The CPU waits until the other
// replicas have arrived, but for no GPU.
class GpuBucketSums : public BucketSums {
 public:
  // The buckets must be on GPUs. Throws BadInput if the replicas have no engine. All replicas call
  // it together.
  GpuBucketSums(Transport& replicas, GradientBuckets& buckets);

 private:
  bool Run(int i) override;
  void RunToEnd(int i) override { Run(i); }
  void End() override;

  Engine* const engine_;
  std::vector<Pending> started_;  // of each bucket
};

}  // namespace torus::parallel
