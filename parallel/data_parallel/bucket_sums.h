// BucketSums: the sums over replicas of one step, bucket by bucket in their order, beside the
// backward that makes the gradients. DataParallel's own part.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "parallel/collectives/direct.h"
#include "parallel/collectives/engine_all_reduce.h"
#include "parallel/data_parallel/gradient_buckets.h"

namespace torus::parallel {

// When which bucket's turn comes; how it is summed its kinds say.
class BucketSums {
 public:
  explicit BucketSums(GradientBuckets& buckets) : buckets_(buckets) {}
  virtual ~BucketSums() = default;
  BucketSums(const BucketSums&) = delete;
  BucketSums& operator=(const BucketSums&) = delete;

  // Before the last backward of a step; `what` is for errors.
  void Begin(const std::string& what);
  // A parameter of the bucket has its whole gradient.
  void GradientIsWhole(int bucket, const Variable& leaf);
  // Goes on without waiting for other replicas.
  void Advance();
  // Sums what is left, and gives the parameters the sums.
  void Finish(const std::string& what);

 protected:
  // Begins with bucket i or goes on with it, without waiting; whether the next one's turn has come.
  virtual bool Run(int i) = 0;
  // The same, until the next one's turn has come.
  virtual void RunToEnd(int i) = 0;
  // Behind the last bucket.
  virtual void End() {}
  // Whether a bucket has begun and its turn is not over.
  virtual bool runs() const { return false; }

  GradientBuckets& buckets() { return buckets_; }
  const GradientBuckets& buckets() const { return buckets_; }
  std::string NameOf(int i) const;  // of a bucket's sum, for errors

 private:
  GradientBuckets& buckets_;
  std::string what_;
  bool armed_ = false;  // within the last backward of a step, or between it and the end
  int next_ = 0;        // bucket that runs or is to be started
  std::vector<std::set<const void*>> missing_;  // of each bucket: leaves without their gradient
};

// By a direct all-reduce in the CPU's memory (direct.h), one bucket at a time.
class DirectBucketSums : public BucketSums {
 public:
  DirectBucketSums(Transport& replicas, GradientBuckets& buckets, int lane)
      : BucketSums(buckets), replicas_(replicas), lane_(lane) {}

 private:
  bool Run(int i) override;
  void RunToEnd(int i) override;
  bool runs() const override { return running_ != nullptr; }
  void Start(int i);
  void Take(int i);

  Transport& replicas_;
  const int lane_;
  std::unique_ptr<PendingAllReduce> running_;
};

// By the engine of GPUs' memory (NCCL): a bucket is gathered in the current stream and summed in
// one of the engine's own, behind the one before. The CPU waits for other replicas to come, and for
// no GPU.
class GpuBucketSums : public BucketSums {
 public:
  // Of buckets on GPUs. BadInput where the replicas have no engine; all call it together.
  GpuBucketSums(Transport& replicas, GradientBuckets& buckets);

 private:
  bool Run(int i) override;
  void RunToEnd(int i) override { Run(i); }
  void End() override;

  Engine* const engine_;
  std::vector<Pending> started_;  // of each bucket
};

}  // namespace torus::parallel
