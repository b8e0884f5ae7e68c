// BucketSums through a codec: each parameter's gradient by itself, one bucket at a time, as factors
// where the codec makes those (factor_sum.h), and else as bytes (coded_sum.h). DataParallel's own
// part.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/data_parallel/bucket_sums.h"
#include "parallel/data_parallel/coded_part.h"

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
        lane_(lane),
        saved_(static_cast<size_t>(replicas.size()), 0) {}

  // Before a step's first sum: its number, and by what its gradients are multiplied.
  void BeginStep(int64_t step, double scale) {
    step_ = step;
    scale_ = scale;
  }
  // Behind a step: what was remembered in one that was not taken is forgotten.
  void EndStep(bool taken);

  // Bytes that one sum of all buckets sends to a replica.
  uint64_t BytesTo(int replica) const;
  // Bytes not sent to each replica so far that a direct all-reduce of the gradients would have.
  const std::vector<int64_t>& saved() const { return saved_; }

  // What the codec remembers, by parameter; between steps.
  std::map<std::string, CodecMemory>& memories() { return memories_; }

 private:
  bool Run(int i) override;
  void RunToEnd(int i) override;
  bool runs() const override { return running_ != nullptr; }
  void Start(int i);
  int UseOf(int i) const;
  void StartCoded(int i);
  std::vector<CodedPart> PartsOf(int i);
  uint64_t PlainBytesTo(int replica, int i) const;
  uint64_t BytesTo(int replica, int i) const;
  void Take(int i);

  Transport& replicas_;
  const std::shared_ptr<Codec> codec_;
  const uint64_t seed_;
  const int lane_;
  std::map<std::string, CodecMemory> memories_;
  std::vector<int64_t> saved_;
  int64_t step_ = 0;
  double scale_ = 1;
  std::unique_ptr<PendingAllReduce> running_;
};

}  // namespace torus::parallel
