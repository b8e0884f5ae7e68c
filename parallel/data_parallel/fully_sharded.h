// FullySharded: ZeRO stage 3 (Rajbhandari et al. 2020; Zhao et al. 2023, "PyTorch FSDP: experiences
// on scaling fully sharded data parallel"). Each replica keeps only its shard of the weights, too.
// The actions kGather and kFree of the schedule make the whole weights available for as long as a
// forward or backward needs them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "parallel/data_parallel/releasable_memory.h"
#include "parallel/data_parallel/sharded.h"

namespace torus::parallel {

// The shards of one rank, by parameter; all uses of a tied parameter in the rank's stages share
// one.
using RankShards = std::map<std::string, Tensor>;

class FullySharded : public Sharded {
 public:
  // `shards` must outlive this.
  FullySharded(Communicator& replicas, std::vector<NamedVariable> uses, const ShardPlan& plan,
               RankShards& shards);

  // After it the weights are sharded.
  void BroadcastWeights(const std::string& what) override;
  void GatherWeights(const std::string& what) override;
  void FreeWeights() override;
  void PublishWeights(const std::string&) override { changed_ = true; }
  void SetWeights(const WeightReader& read) override;
  std::vector<NamedTensor> Weights(const std::string& what) override;
  uint64_t WeightBytes() const override;
  uint64_t GatheredBytes() const override { return memory_->taken() ? memory_->bytes() : 0; }

 private:
  void MoveWeights();

  RankShards& shards_;
  std::set<std::string> first_;  // parameters whose first use on the rank is in this stage
  bool changed_ = false;         // weights have changed since they were gathered
  // Holds the whole weights; graphs of micro-batches in flight share it.
  std::shared_ptr<ReleasableMemory> memory_;
};

}  // namespace torus::parallel
