// Distributed data parallelism (Li et al. 2020, "PyTorch Distributed: experiences on accelerating
// data parallel training"): replicas all-reduce their gradients, then each takes the same step.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/collectives/all_reduce.h"
#include "parallel/data_parallel/bucket_sums.h"
#include "parallel/data_parallel/coded_bucket_sums.h"
#include "parallel/data_parallel/gradient_buckets.h"
#include "parallel/data_parallel/replica_strategy.h"

namespace torus::parallel {

struct DataParallelOptions {
  size_t bucket_bytes = size_t{25} << 20;
  AllReduceAlgorithm all_reduce = AllReduceAlgorithm::kDirect;
  // Tells the strategies of one rank's stages apart, whose all-reduces may be under way together.
  int lane = 0;
  // Whether the rank has no other stage: an engine's sums must begin in one order on all replicas,
  // and several stages' backwards would not keep to any.
  bool only_stage = true;
  // Through which gradients of f32 go (coded_bucket_sums.h), each parameter's by itself; those of
  // f64 do not. Null: none do. Its decoder must need no memory, and all_reduce be kDirect.
  std::shared_ptr<Codec> codec = {};
  uint64_t seed = 0;  // of its random numbers
  // The parameters of which this rank has a slice, and other tensor-parallel ranks the rest. What
  // these all have whole gets equal bits on all of them then, however they sum: its buckets, and
  // the codec's random numbers, are the same on all.
  std::set<std::string> slices = {};
};

// An all-reduce makes each sum once and copies it: all replicas end with equal bits, and since the
// optimizer does the same to equal bits, parameters that began equal stay equal. A direct
// all-reduce also adds in one order, so that the sums depend neither on the buckets nor on where
// the model is cut into stages; it is made in the CPU's memory, to which a GPU's gradients go
// bucket by bucket.
//
// A direct all-reduce of a bucket begins within the stage's last backward, as soon as the last of
// its gradients is whole (a hook of each leaf tells it), and goes on between the backward's nodes.
// Buckets go one after the other in one order, so a bucket waits for those before it.
// ReduceGradients ends what is left. So do an engine's all-reduces of GPUs' memory (NCCL), which
// run beside the backward by themselves. Other algorithms, and gradients that are not whole until
// then, have it all there.
class DataParallel : public ReplicaStrategy {
 public:
  DataParallel(Transport& replicas, std::vector<NamedVariable> uses,
               DataParallelOptions options = {});
  ~DataParallel() override;

  // BadInput where an engine is to sum on GPUs, and the replicas have none.
  void BroadcastWeights(const std::string& what) override;
  void BeginLastBackward(const std::string& what) override;
  void Advance() override;
  // With one replica it does nothing.
  void ReduceGradients(const std::string& what, double share) override;

  // For the codec.
  void BeginStep(int64_t step, double scale) override;
  void EndStep(bool taken) override;
  std::vector<int64_t> SavedBytes() const override;
  // Of this replica's codec, by parameter.
  std::map<std::string, CodecMemory> codec_memories() const override;
  void SetCodecMemories(std::map<std::string, CodecMemory> memories) override;

  // Bytes that this replica sends in one ReduceGradients.
  uint64_t BytesPerStep() const;

 private:
  bool SumsOnGpu() const;
  void Hook();
  void ReduceWhole(const std::string& what);

  const DataParallelOptions options_;
  GradientBuckets buckets_;
  CodedBucketSums* coded_ = nullptr;  // sums_, where there is a codec
  std::shared_ptr<BucketSums> sums_;  // its hooks may outlive this; null where nothing overlaps
};

}  // namespace torus::parallel
