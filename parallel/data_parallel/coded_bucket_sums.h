// BucketSums through a codec. Each parameter's gradient is encoded by itself:
// as factors if it is a FactorCodec (factor_sum.h), else as bytes (coded_sum.h). Internal to
// DataParallel.
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
  // The buckets must be in CPU memory; those of f64 are summed uncoded, and all in the first
  // `warmup` steps.
  CodedBucketSums(Communicator& replicas, GradientBuckets& buckets, std::shared_ptr<Codec> codec,
                  int64_t warmup, uint64_t seed, int lane)
      : BucketSums(replicas, buckets, lane),
        codec_(std::move(codec)),
        warmup_(warmup),
        seed_(seed),
        saved_(static_cast<size_t>(replicas.size()), 0) {}

  // Call before a step's first sum, with its number and the factor (loss scale) of its gradients.
  void BeginStep(int64_t step, double scale) {
    step_ = step;
    scale_ = scale;
  }
  // Call after a step: if it was not taken, drops the changes that it made to the codec's state.
  void EndStep(bool taken);

  // Bytes that one sum of all buckets sends to a replica after the warm-up.
  uint64_t BytesTo(int replica) const;
  // For each replica, the bytes saved so far compared with a direct all-reduce of the gradients.
  const std::vector<int64_t>& saved() const { return saved_; }

  // The codec's state, by parameter. Use between steps.
  std::map<std::string, CodecMemory>& memories() { return memories_; }

 private:
  std::unique_ptr<PendingCollective> Start(int i) override;
  int UseOf(int i) const;
  std::unique_ptr<PendingCollective> StartCoded(int i);
  std::vector<CodedPart> PartsOf(int i);
  uint64_t PlainBytesTo(int replica, int i) const;
  uint64_t BytesTo(int replica, int i) const;

  const std::shared_ptr<Codec> codec_;
  const int64_t warmup_;
  const uint64_t seed_;
  std::map<std::string, CodecMemory> memories_;
  std::vector<int64_t> saved_;
  int64_t step_ = 0;
  double scale_ = 1;
};

}  // namespace torus::parallel
