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
#include "parallel/collectives/communicator.h"
#include "parallel/data_parallel/bucket_sums.h"
#include "parallel/data_parallel/coded_bucket_sums.h"
#include "parallel/data_parallel/gradient_buckets.h"
#include "parallel/data_parallel/replica_strategy.h"

namespace torus::parallel {

struct DataParallelOptions {
  size_t bucket_bytes = size_t{25} << 20;
  // Different for each stage of a rank, because their all-reduces may run at the same time.
  int lane = 0;
  // Whether the rank has no other stage. An engine's sums must start in the same order on all
  // replicas, which the backwards of several stages do not guarantee.
  bool only_stage = true;
  // The codec of f32 gradients (coded_bucket_sums.h), for each parameter by itself; those of f64
  // are not encoded. Null: none. Its decoder must need no CodecMemory, and the communicator
  // must sum directly.
  std::shared_ptr<Codec> codec = {};
  int64_t codec_warmup = 0;  // the number of first steps without the codec
  uint64_t seed = 0;         // of the codec's random numbers
  // The parameters of which this rank has only a slice (tensor parallelism). Parameters that all
  // tensor-parallel ranks have whole get buckets of their own, so that these buckets and the
  // codec's random numbers, and hence the bits of the sums, are the same on all of them.
  std::set<std::string> slices = {};
};

// An all-reduce computes each sum once and copies it. So all replicas get equal bits, and since the
// optimizer does the same with equal bits, parameters that began equal stay equal. A direct
// all-reduce also adds in one fixed order, so that the sums depend neither on the buckets nor on
// where the model is cut into stages. It works in CPU memory, to which a GPU's gradients are copied
// bucket by bucket.
//
// A direct all-reduce of a bucket starts within the stage's last backward, as soon as the last of
// its gradients is complete (a hook of each leaf reports it), and continues between the backward's
// nodes. Buckets are summed in a fixed order, so each waits for those before it; ReduceGradients
// completes the rest. All-reduces of an engine in GPU memory (NCCL) start likewise and run in
// parallel to the backward. With other algorithms, and for gradients that are complete only later,
// ReduceGradients does all the work.
class DataParallel : public ReplicaStrategy {
 public:
  DataParallel(Communicator& replicas, std::vector<NamedVariable> uses,
               DataParallelOptions options = {});
  ~DataParallel() override;

  // Throws BadInput if an engine has to sum on GPUs and the replicas have none: it is made here,
  // because all replicas make it together.
  void BroadcastWeights(const std::string& what) override;
  void BeginLastBackward(const std::string& what) override;
  void Advance() override;
  // Does nothing with one replica.
  void ReduceGradients(const std::string& what, double share) override;

  // For the codec.
  void BeginStep(int64_t step, double scale) override;
  void EndStep(bool taken) override;
  std::vector<int64_t> SavedBytes() const override;
  // The state of this replica's codec, by parameter.
  std::map<std::string, CodecMemory> codec_memories() const override;
  void SetCodecMemories(std::map<std::string, CodecMemory> memories) override;

  // Bytes that this replica sends in one ReduceGradients, after the codec's warm-up.
  uint64_t BytesPerStep() const;

 private:
  bool SumsOnGpu() const;
  void Hook();

  const DataParallelOptions options_;
  GradientBuckets buckets_;
  CodedBucketSums* coded_ = nullptr;  // sums_ if there is a codec, else null
  std::shared_ptr<BucketSums> sums_;  // hooks, which may outlive this, hold it weakly; may be null
};

}  // namespace torus::parallel
