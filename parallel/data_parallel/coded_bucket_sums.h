// BucketSums through a codec: each parameter's gradient by itself (coded_sum.h), one bucket at a
// time. DataParallel's own part.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "parallel/codec/codec.h"
#include "parallel/data_parallel/bucket_sums.h"
#include "parallel/data_parallel/coded_sum.h"

namespace torus::parallel {

class CodedBucketSums : public BucketSums {
 public:
  // Buckets lie in the CPU's memory; those of f64 are summed as they are.
  CodedBucketSums(Transport& replicas, GradientBuckets& buckets, std::shared_ptr<Codec> codec,
                  uint64_t seed, int lane)
      : BucketSums(buckets),
        replicas_(replicas),
        codec_(std::move(codec)),
        seed_(seed),
        lane_(lane) {}

  // What the codec remembers, by parameter; between steps.
  std::map<std::string, CodecMemory>& memories() { return memories_; }

 private:
  bool Run(int i) override;
  void RunToEnd(int i) override;
  bool runs() const override { return running_ != nullptr; }
  void Start(int i);
  void StartCoded(int i);
  void Take(int i);

  Transport& replicas_;
  const std::shared_ptr<Codec> codec_;
  const uint64_t seed_;
  const int lane_;
  std::map<std::string, CodecMemory> memories_;
  int64_t sums_ = 0;  // of this program, through the codec
  std::unique_ptr<PendingAllReduce> running_;
};

}  // namespace torus::parallel
