// FullySharded: ZeRO stage 3 (Rajbhandari et al. 2020; Zhao et al. 2023, "PyTorch FSDP: experiences
// on scaling fully sharded data parallel"). Weights too are held in shares alone. The actions
// kGather and kFree of the schedule bring the whole ones for as long as a forward or backward needs
// them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "parallel/data_parallel/releasable_memory.h"
#include "parallel/data_parallel/sharded.h"

namespace torus::parallel {

// The shares of one rank, by parameter: the uses of a tied one in its stages have one.
using RankShards = std::map<std::string, Tensor>;

class FullySharded : public Sharded {
 public:
  // `shards` must outlive this.
  FullySharded(Transport& replicas, std::vector<NamedVariable> uses, const ShardPlan& plan,
               RankShards& shards);

  // From then on the weights are sharded.
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
  std::set<std::string> first_;  // parameters that have no earlier use on the rank
  bool changed_ = false;         // since they were gathered
  // Of the whole weights; the graphs of micro-batches under way keep it.
  std::shared_ptr<ReleasableMemory> memory_;
};

}  // namespace torus::parallel
