// Distributed data parallelism (Li et al. 2020, "PyTorch Distributed: experiences on accelerating
// data parallel training"): replicas all-reduce their gradients, then each takes the same step.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/collectives/all_reduce.h"
#include "parallel/collectives/direct.h"
#include "parallel/data_parallel/gradient_buckets.h"
#include "parallel/data_parallel/replica_strategy.h"

namespace torus::parallel {

struct DataParallelOptions {
  size_t bucket_bytes = size_t{25} << 20;
  AllReduceAlgorithm all_reduce = AllReduceAlgorithm::kDirect;
  // Tells the strategies of one rank's stages apart, whose all-reduces may be under way together.
  int lane = 0;
  // Through which gradients of f32 go (coded_sum.h), each parameter's by itself; those of f64 do
  // not. Null: none do. Its decoder must need no memory, and all_reduce be kDirect.
  std::shared_ptr<Codec> codec = {};
  uint64_t seed = 0;  // of its random numbers
};

// An all-reduce makes each sum once and copies it: all replicas end with equal bits, and since the
// optimizer does the same to equal bits, parameters that began equal stay equal. A direct
// all-reduce also adds in one order, so that the sums depend neither on the buckets nor on where
// the model is cut into stages.
//
// A direct all-reduce of a bucket begins within the stage's last backward, as soon as the last of
// its gradients is whole (a hook of each leaf tells it), and goes on between the backward's nodes.
// Buckets go one after the other in one order, so a bucket waits for those before it.
// ReduceGradients ends what is left. Other algorithms, and gradients that are not whole until then,
// have it all there.
class DataParallel : public ReplicaStrategy {
 public:
  DataParallel(Transport& replicas, std::vector<NamedVariable> uses,
               DataParallelOptions options = {});
  ~DataParallel() override;

  void BeginLastBackward(const std::string& what) override;
  void Advance() override;
  // With one replica it does nothing.
  void ReduceGradients(const std::string& what, double share) override;

  // Of this replica's codec, by parameter.
  std::map<std::string, CodecMemory> codec_memories() const override;
  void SetCodecMemories(std::map<std::string, CodecMemory> memories) override;

  // Bytes that this replica sends in one ReduceGradients.
  uint64_t BytesPerStep() const;

 private:
  class Overlap;

  void ReduceWhole(const std::string& what);

  GradientBuckets buckets_;
  AllReduceAlgorithm all_reduce_;
  std::shared_ptr<Codec> codec_;
  std::shared_ptr<Overlap> overlap_;  // its hooks may outlive this; null where nothing overlaps
};

}  // namespace torus::parallel
