// The one list of strategies.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parallel/collectives/all_reduce.h"
#include "parallel/data_parallel/data_parallel.h"
#include "parallel/data_parallel/fully_sharded.h"
#include "parallel/data_parallel/replica_strategy.h"
#include "parallel/data_parallel/shard_plan.h"

namespace torus::parallel {

// "ddp", ...; each with what it is, in a few words.
std::vector<std::pair<std::string, std::string>> StrategyDescriptions();
std::vector<std::string> StrategyNames();

// BadInput with the list of names for an unknown one; and for a sum in another way than "direct"
// of one that sums in its order by itself.
void CheckStrategy(std::string_view name, AllReduceAlgorithm all_reduce);

// Whether weights are gathered by the actions of the schedule, block by block.
bool GathersWeights(std::string_view name);

// What the replicas of a run hold; nothing of interest where each holds all.
ShardPlan PlanOf(std::string_view name, const std::vector<ShardedParameter>& model, int replicas);

// Of one stage on one replica. With one replica they are all alike. `shards`: of the rank, for
// those that gather weights; `options`: for those that hold all.
std::unique_ptr<ReplicaStrategy> MakeStrategy(std::string_view name, Transport& replicas,
                                              std::vector<NamedVariable> uses,
                                              const ShardPlan& plan, RankShards& shards,
                                              const DataParallelOptions& options);

}  // namespace torus::parallel
